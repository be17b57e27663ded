import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { PAGES, type PageEntry } from "./page-table.ts";

/** The response to a request for a page. */
export interface PageResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** The static pages of the service. */
export interface Pages {
  readonly paths: readonly string[];
  /** Returns the page at one of the paths, or 304 without a body if the client has the current version. */
  respond(path: string, headers: IncomingHttpHeaders): PageResponse;
}

/** The limits that the playground checks before it sends a photo. */
export interface PageLimits {
  readonly maxImageBytes: number;
  readonly maxImagePixels: number;
  /** Accepted formats, such as `jpeg`. */
  readonly imageFormats: readonly string[];
}

interface Page {
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

const TYPES: Readonly<Record<PageEntry["type"], string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  javascript: "text/javascript; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
  proto: "text/plain; charset=utf-8",
  descriptors: "application/protobuf",
};

/** Allows only our own files, and images that a page creates itself. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(self), microphone=(), geolocation=()",
};

/** Reads all pages into memory. Throws if a file is missing. */
export function openPages({ maxImageBytes, maxImagePixels, imageFormats }: PageLimits): Pages {
  const pages = new Map(PAGES.map((entry) => [entry.path, readPage(entry)]));
  const limits = Buffer.from(JSON.stringify({ maxImageBytes, maxImagePixels, imageFormats }));
  pages.set("/playground/limits.json", createPage(limits, { type: "json" }));
  return {
    paths: [...pages.keys()],
    respond(path, requestHeaders) {
      const { bytes, headers } = pages.get(path)!;
      return requestHeaders["if-none-match"] === headers.etag
        ? { status: 304, headers }
        : { status: 200, headers, body: bytes };
    },
  };
}

function readPage(entry: PageEntry): Page {
  return createPage(readFileSync(new URL(entry.file, compiledFolder())), entry);
}

function createPage(bytes: Buffer, { type }: Pick<PageEntry, "type">): Page {
  return {
    bytes,
    headers: {
      ...SECURITY_HEADERS,
      "content-security-policy": POLICY,
      "content-type": TYPES[type],
      // Revalidated each time; an unchanged page is answered with 304.
      "cache-control": "no-cache",
      etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    },
  };
}

/** Tests run from source but serve the built files as well. */
function compiledFolder(): URL {
  const isSource = import.meta.url.endsWith(".ts");
  return new URL(isSource ? "../../dist/src/web/" : "./", import.meta.url);
}
