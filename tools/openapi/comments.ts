import type { AnyDesc } from "@bufbuild/protobuf";
import { getComments, getSyntaxComments } from "@bufbuild/protoplugin";

/**
 * Gives the comment above a declaration, of a file that at its head: paragraphs, each in one line. Empty where there
 * is none; descriptors from generated code have none at all.
 */
export function commentOf(desc: AnyDesc): string {
  const { leading = "" } = desc.kind === "file" ? getSyntaxComments(desc) : getComments(desc);
  return leading
    .trim()
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replaceAll(/\s+/g, " ").trim())
    .join("\n\n");
}

/** The comment as the `description` of an object, or nothing. */
export function describing(desc: AnyDesc): { description?: string } {
  const description = commentOf(desc);
  return description ? { description } : {};
}

/** The first sentence of a text, without its full stop. */
export function firstSentenceOf(text: string): string {
  return /^.*?(?=[.:](\s|$)|$)/s.exec(text)![0];
}
