import type { IncomingMessage } from "node:http";
import type { Entry } from "./entry.ts";
import { formEntries } from "./form.ts";
import { boundaryOf, isText, multipartEntries } from "./multipart.ts";
import { RestError } from "./rest-error.ts";

/**
 * Reads a whole body. Throws RestError `tooLarge` as soon as it is known to pass the limit; what was read
 * is let go and the rest stays unread.
 */
export function readBody(request: IncomingMessage, mostBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (settle: () => void) => {
      request.off("data", take).off("end", end).off("error", fail).off("close", close);
      settle();
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size > mostBytes) finish(() => reject(tooLarge(mostBytes)));
      else chunks.push(chunk);
    };
    const end = () => finish(() => resolve(Buffer.concat(chunks, size)));
    const fail = (cause: unknown) => finish(() => reject(cause));
    const close = () => fail(new RestError("badRequest", "The request ended before its body did."));
    // Not `for await`: leaving it early destroys the request, and with it the socket for the answer.
    if (Number(request.headers["content-length"] ?? 0) > mostBytes) reject(tooLarge(mostBytes));
    else request.on("data", take).on("end", end).on("error", fail).on("close", close);
  });
}

function tooLarge(mostBytes: number): RestError {
  return new RestError("tooLarge", `The request is larger than the ${mostBytes} bytes that are allowed.`);
}

/**
 * Gives the entries of a body: of multipart, a form or a JSON object. Which of them it is, its first bytes
 * tell; the content type is wrong too often, and only helps where they leave it open.
 */
export function bodyEntries(body: Buffer, contentType: string): Iterable<Entry> {
  const boundary = boundaryOf(body, contentType);
  if (boundary !== undefined) return multipartEntries(body, boundary);
  if (!isText(body)) {
    throw new RestError("unsupportedType", "The body must be multipart/form-data, a form or a JSON object.");
  }
  const text = body
    .toString()
    .replace(/^\uFEFF/, "")
    .trim();
  if (text === "") return [];
  const isForm = !/^[{["]/.test(text) && (!/json/i.test(contentType) || /^[^\s=]{1,200}=/.test(text));
  return isForm ? formEntries(text) : jsonEntries(text);
}

function jsonEntries(text: string): Entry[] {
  const json = parseJson(text);
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    throw new RestError("badRequest", "The JSON body must be an object.");
  }
  return Object.entries(json).map(([name, value]) => ({ name, value }));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The parser's own words quote the body, which may be somebody's photograph.
    throw new RestError("badRequest", "The body is not valid JSON.", { cause });
  }
}
