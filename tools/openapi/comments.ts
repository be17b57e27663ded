import type { AnyDesc } from "@bufbuild/protobuf";
import { getComments, getSyntaxComments } from "@bufbuild/protoplugin";

/**
 * Returns the comment above a declaration, or at the top of a file, with each paragraph on one line. Empty if there
 * is none; descriptors of generated code have no comments.
 */
export function readComment(desc: AnyDesc): string {
  const { leading = "" } = desc.kind === "file" ? getSyntaxComments(desc) : getComments(desc);
  return leading
    .trim()
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replaceAll(/\s+/g, " ").trim())
    .join("\n\n");
}

/** Returns the comment as the `description` of an object, or an empty object if there is none. */
export function readDescription(desc: AnyDesc): { description?: string } {
  const description = readComment(desc);
  return description ? { description } : {};
}

/** Returns the first sentence of a text without its full stop. */
export function firstSentence(text: string): string {
  return /^.*?(?=[.:](\s|$)|$)/s.exec(text)![0];
}
