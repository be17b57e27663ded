import { isUtf8 } from "node:buffer";
import { findBytes } from "../bytes/find-bytes.ts";
import type { Entry } from "./entry.ts";
import { LONG_TEXT_BYTES, MAX_FIELDS } from "./parse-limits.ts";
import { RestError } from "./rest-error.ts";
import { TextBytes } from "./text-bytes.ts";

// Why not @fastify/busboy: it drops parts with `Content-Disposition: attachment`, and requires the boundary in the
// header and a closing delimiter. Existing clients violate all three. The body is in memory anyway, so streaming has
// no advantage.

/** The maximum size of a part's headers. Without a limit, the search for their end would read whole files. */
const MAX_PART_HEADER_BYTES = 4096;
/** RFC 2046 allows 70; some hand-written clients use more. */
const MAX_BOUNDARY_BYTES = 200;

/** The first delimiter line of a multipart body. */
export interface Boundary {
  readonly boundary: string;
  /** The index of the delimiter line. */
  readonly start: number;
}

/**
 * Finds the boundary of a multipart body: from its first line whatever the content type says, or after a preamble from
 * the content type. Returns undefined for a body that is not multipart.
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
 * Parses the named parts of a multipart body (RFC 7578, RFC 2046). A part with a file name and a content type becomes
 * bytes; any other part becomes text if it is text. The content type itself is ignored, because it is often wrong.
 * Throws RestError `badRequest` if there are too many parts, including parts without a name and lines that begin like a
 * delimiter.
 *
 * Lenient: lines may end with a bare LF, and the closing delimiter may be missing.
 */
export async function parseMultipart(body: Buffer, { boundary, start }: Boundary): Promise<Entry[]> {
  const entries: Entry[] = [];
  const firstLineEnd = body.indexOf("\n", start);
  if (firstLineEnd < 0) return entries;
  const newline = body[firstLineEnd - 1] === 0x0d ? "\r\n" : "\n";
  const delimiter = Buffer.from(`${newline}--${boundary}`);

  let partStart = firstLineEnd + 1;
  // From just before the part: if it is empty, the newline of the previous line belongs to the next delimiter.
  let searchStart = partStart - newline.length;
  for (let count = 0; partStart < body.length; ) {
    if (++count > MAX_FIELDS)
      throw new RestError("badRequest", `The request has more than ${MAX_FIELDS} parts.`);
    const found = await findBytes(body, delimiter, searchStart);
    const line = found < 0 ? LAST_LINE : parseDelimiterLine(body, found + delimiter.length);
    if (!line) {
      searchStart = found + 1;
      continue;
    }
    const partEnd = found < 0 ? body.length : Math.max(partStart, found);
    const entry = parsePart(body.subarray(partStart, partEnd), newline);
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
  /** The index of the next line. */
  readonly end: number;
}

const LAST_LINE: DelimiterLine = { isLast: true, end: Number.POSITIVE_INFINITY };

/** Parses a delimiter line after the boundary. Returns undefined for a line that only begins like a delimiter. */
function parseDelimiterLine(body: Buffer, start: number): DelimiterLine | undefined {
  const rest = body.toString("latin1", start, start + MAX_BOUNDARY_BYTES);
  if (rest.startsWith("--")) return LAST_LINE;
  const newline = rest.indexOf("\n");
  if (newline < 0 && rest.length === MAX_BOUNDARY_BYTES) return undefined;
  const end = newline < 0 ? rest.length : newline + 1;
  return rest.slice(0, end).trim() === "" ? { isLast: false, end: start + end } : undefined;
}

function parsePart(part: Buffer, newline: string): Entry | undefined {
  const blankLine = part.subarray(0, MAX_PART_HEADER_BYTES).indexOf(newline + newline);
  if (blankLine < 0) return undefined;
  const head = part.toString("utf8", 0, blankLine);
  const { name, fileName } = parseDisposition(head);
  if (name === undefined) return undefined;
  const content = part.subarray(blankLine + 2 * newline.length);
  // Neither is a file: an empty file input has no file name, and text that Python's requests sends as a file has no
  // content type.
  const isFile = Boolean(fileName) && /^content-type\s*:/im.test(head);
  if (isFile || !isText(content)) return { name, value: content };
  const isLong = content.length > LONG_TEXT_BYTES;
  return { name, value: isLong ? new TextBytes(content, "plain") : content.toString() };
}

/** Whether bytes are text: UTF-8 without NUL. JPEG, PNG and most other binary files are not. */
export function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

function parseDisposition(head: string): { name?: string; fileName?: string } {
  const line = head
    .replace(/\r?\n[ \t]+/g, " ")
    .split(/\r?\n/)
    .find((one) => /^content-disposition\s*:/i.test(one));
  const found: { name?: string; fileName?: string } = {};
  // The closing quote is optional, so that a missing one causes no backtracking.
  for (const [, key, quoted, plain] of (line ?? "").matchAll(
    /[;:]\s*([\w*-]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"?|([^;]*))/g,
  )) {
    const value = quoted?.replace(/\\(["\\])/g, "$1") ?? plain!.trim().replace(/^'(.*)'$/, "$1");
    if (/^name$/i.test(key!)) found.name ??= value;
    else if (/^filename\*?$/i.test(key!)) found.fileName ??= value;
  }
  return found;
}
