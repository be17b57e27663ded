import { isUtf8 } from "node:buffer";
import { findBytes } from "../bytes/find-bytes.ts";
import { TimeSlice } from "../bytes/time-slice.ts";
import type { Entry } from "./entry.ts";
import { LONG_TEXT_BYTES, MAX_FIELDS } from "./parse-limits.ts";
import { RestError } from "./rest-error.ts";
import { TextBytes } from "./text-bytes.ts";

// Not @fastify/busboy: it drops parts with `Content-Disposition: attachment`, wants the boundary in the
// header and a closing delimiter. Existing clients fail all three. The body is in memory anyway, so that
// streaming gains nothing.

/** Beyond this a part's head is not a head (and looking for its end would read files). */
const MAX_HEAD_BYTES = 4096;
/** RFC 2046 allows 70; hand-made ones are longer. */
const MAX_BOUNDARY_BYTES = 200;

/** The first delimiter line of a multipart body. */
export interface Boundary {
  readonly boundary: string;
  /** Where its line begins. */
  readonly start: number;
}

/**
 * Finds the boundary of a multipart body: that of its first line, whatever the content type says, or
 * after a preamble the one the content type names. Undefined for a body that is not multipart.
 */
export async function findBoundary(body: Buffer, contentType: string): Promise<Boundary | undefined> {
  const [, newlines = "", first] =
    /^([\r\n]*)--([^\r\n]+)/.exec(body.toString("utf8", 0, MAX_BOUNDARY_BYTES)) ?? [];
  if (first) return { boundary: first.trimEnd(), start: newlines.length };
  const [, quoted, plain] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^;\s]+))/i.exec(contentType) ?? [];
  const boundary = quoted || plain;
  if (!boundary || boundary.length > MAX_BOUNDARY_BYTES) return undefined;
  const newline = await findBytes(body, Buffer.from(`\n--${boundary}`), 0);
  return newline < 0 ? undefined : { boundary, start: newline + 1 };
}

/**
 * Gives the named parts of a multipart body (RFC 7578, RFC 2046): a part with a file name and a type as
 * its bytes, any other as text where it is text. Which type it claims is not looked at; many are wrong.
 * Throws RestError `badRequest` for too many parts; those without a name count, and so do lines that begin like a
 * delimiter.
 *
 * Lines may end with a bare LF and the closing delimiter may be missing, as in hand-made bodies.
 */
export async function multipartEntries(body: Buffer, { boundary, start }: Boundary): Promise<Entry[]> {
  const entries: Entry[] = [];
  const firstLineEnd = body.indexOf("\n", start);
  if (firstLineEnd < 0) return entries;
  const newline = body[firstLineEnd - 1] === 0x0d ? "\r\n" : "\n";
  const delimiter = Buffer.from(`${newline}--${boundary}`);

  const slice = new TimeSlice();
  let partStart = firstLineEnd + 1;
  // From just before the part: an empty one has the next delimiter's newline as its own line's.
  let searchStart = partStart - newline.length;
  for (let count = 0; partStart < body.length; ) {
    if (++count > MAX_FIELDS)
      throw new RestError("badRequest", `The request has more than ${MAX_FIELDS} parts.`);
    if (slice.isOver) await slice.pause();
    const found = await findBytes(body, delimiter, searchStart);
    const line = found < 0 ? LAST_LINE : delimiterLineAt(body, found + delimiter.length);
    if (!line) {
      searchStart = found + 1;
      continue;
    }
    const partEnd = found < 0 ? body.length : Math.max(partStart, found);
    const entry = entryOf(body.subarray(partStart, partEnd), newline);
    if (entry) entries.push(entry);
    if (line.isLast) break;
    partStart = line.end;
    searchStart = partStart - newline.length;
  }
  return entries;
}

/** The rest of a line that begins with the delimiter. */
interface DelimiterLine {
  readonly isLast: boolean;
  /** Where the next line begins. */
  readonly end: number;
}

const LAST_LINE: DelimiterLine = { isLast: true, end: Number.POSITIVE_INFINITY };

/** Reads a delimiter's line after the boundary; a line that only begins like it belongs to the content. */
function delimiterLineAt(body: Buffer, start: number): DelimiterLine | undefined {
  const rest = body.toString("latin1", start, start + MAX_BOUNDARY_BYTES);
  if (rest.startsWith("--")) return LAST_LINE;
  const newline = rest.indexOf("\n");
  if (newline < 0 && rest.length === MAX_BOUNDARY_BYTES) return undefined;
  const end = newline < 0 ? rest.length : newline + 1;
  return rest.slice(0, end).trim() === "" ? { isLast: false, end: start + end } : undefined;
}

function entryOf(part: Buffer, newline: string): Entry | undefined {
  const blankLine = part.subarray(0, MAX_HEAD_BYTES).indexOf(newline + newline);
  if (blankLine < 0) return undefined;
  const head = part.toString("utf8", 0, blankLine);
  const { name, fileName } = dispositionOf(head);
  if (name === undefined) return undefined;
  const content = part.subarray(blankLine + 2 * newline.length);
  // A file input left empty comes as a file without name and bytes; text that was handed to Python's
  // requests as a file comes with a file name but no type. Neither is a file.
  const isFile = Boolean(fileName) && /^content-type\s*:/im.test(head);
  if (isFile || !isText(content)) return { name, value: content };
  const isLong = content.length > LONG_TEXT_BYTES;
  return { name, value: isLong ? new TextBytes(content, "plain") : content.toString() };
}

/** Tells whether bytes are text: UTF-8 without NUL. Neither JPEG nor PNG, nor most other files, are. */
export function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

function dispositionOf(head: string): { name?: string; fileName?: string } {
  const line = head
    .replace(/\r?\n[ \t]+/g, " ")
    .split(/\r?\n/)
    .find((one) => /^content-disposition\s*:/i.test(one));
  const found: { name?: string; fileName?: string } = {};
  // The closing quote is optional so that one that is missing costs no second reading.
  for (const [, key, quoted, plain] of (line ?? "").matchAll(
    /[;:]\s*([\w*-]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"?|([^;]*))/g,
  )) {
    const value = quoted?.replace(/\\(["\\])/g, "$1") ?? plain!.trim().replace(/^'(.*)'$/, "$1");
    if (/^name$/i.test(key!)) found.name ??= value;
    else if (/^filename\*?$/i.test(key!)) found.fileName ??= value;
  }
  return found;
}
