import { isUtf8 } from "node:buffer";
import type { Entry } from "./entry.ts";

// Not @fastify/busboy: it drops parts with `Content-Disposition: attachment`, wants the boundary in the
// header and a closing delimiter. Existing clients fail all three. The body is in memory anyway, so that
// streaming gains nothing.

/** Beyond this a part's head is not a head (and looking for its end would read files). */
const MOST_HEAD_BYTES = 4096;
/** RFC 2046 allows 70; hand-made ones are longer. */
const MOST_BOUNDARY_BYTES = 200;

/**
 * Tells the boundary of a multipart body: that of its first line, whatever the content type says, or
 * after a preamble the one the content type names. Undefined for a body that is not multipart.
 */
export function boundaryOf(body: Buffer, contentType: string): string | undefined {
  const [, first] = /^[\r\n]*--([^\r\n]+)/.exec(body.toString("utf8", 0, MOST_BOUNDARY_BYTES)) ?? [];
  if (first) return first.trimEnd();
  const [, quoted, plain] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^;\s]+))/i.exec(contentType) ?? [];
  const named = quoted || plain;
  return named && body.includes(`\n--${named}`) ? named : undefined;
}

/**
 * Gives the named parts of a multipart body (RFC 7578, RFC 2046): a part with a file name and a type as
 * its bytes, any other as text where it is text. Which type it claims is not looked at; many are wrong.
 *
 * Lines may end with a bare LF and the closing delimiter may be missing, as in hand-made bodies.
 */
export function* multipartEntries(body: Buffer, boundary: string): Generator<Entry> {
  const mark = `--${boundary}`;
  const opening = body.indexOf(mark) === 0 ? 0 : body.indexOf(`\n${mark}`) + 1;
  const firstLineEnd = body.indexOf("\n", opening);
  if (firstLineEnd < 0) return;
  const newline = body[firstLineEnd - 1] === 0x0d ? "\r\n" : "\n";
  const delimiter = newline + mark;

  let start = firstLineEnd + 1;
  while (start < body.length) {
    // From just before the part: an empty one has the next delimiter's newline as its own line's.
    const found = delimiterAt(body, delimiter, start - newline.length);
    const entry = entryOf(body.subarray(start, Math.max(start, found.start)), newline);
    if (entry) yield entry;
    if (found.last) return;
    start = found.end;
  }
}

/** Finds the next line that is the delimiter; a line that only begins like it belongs to the content. */
function delimiterAt(
  body: Buffer,
  delimiter: string,
  from: number,
): { start: number; end: number; last: boolean } {
  for (let start = body.indexOf(delimiter, from); start >= 0; start = body.indexOf(delimiter, start + 1)) {
    const rest = start + Buffer.byteLength(delimiter);
    if (body.toString("latin1", rest, rest + 2) === "--") return { start, end: body.length, last: true };
    const lineEnd = body.indexOf("\n", rest);
    const end = lineEnd < 0 ? body.length : lineEnd + 1;
    if (end - rest < MOST_BOUNDARY_BYTES && body.toString("latin1", rest, end).trim() === "") {
      return { start, end, last: false };
    }
  }
  return { start: body.length, end: body.length, last: true };
}

function entryOf(part: Buffer, newline: string): Entry | undefined {
  const blankLine = part.subarray(0, MOST_HEAD_BYTES).indexOf(newline + newline);
  if (blankLine < 0) return undefined;
  const head = part.toString("utf8", 0, blankLine);
  const { name, fileName } = dispositionOf(head);
  if (name === undefined) return undefined;
  const content = part.subarray(blankLine + 2 * newline.length);
  // A file input left empty comes as a file without name and bytes; text that was handed to Python's
  // requests as a file comes with a file name but no type. Neither is a file.
  const isFile = Boolean(fileName) && /^content-type\s*:/im.test(head);
  return { name, value: isFile || !isText(content) ? content : content.toString() };
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
