import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { PAGES, type PageEntry } from "./page-table.ts";

/** A page as it is sent. */
export interface PageResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** The pages of the service. */
export interface Pages {
  readonly paths: readonly string[];
  /** The page at one of the paths; without its body where the client has it already. */
  respond(path: string, headers: IncomingHttpHeaders): PageResponse;
}

/** What the pages tell of the service's settings. */
export interface PageLimits {
  readonly maxImageBytes: number;
  readonly maxImagePixels: number;
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
};

/** Nothing but files of our own; pictures that a page makes itself. */
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

/** Reads all pages into memory; throws where a file is missing. */
export function openPages({ maxImageBytes, maxImagePixels }: PageLimits): Pages {
  const pages = new Map(PAGES.map((entry) => [entry.path, pageOf(entry)]));
  const limits = Buffer.from(JSON.stringify({ maxImageBytes, maxImagePixels }));
  pages.set("/playground/limits.json", pageFrom(limits, { type: "json" }));
  return {
    paths: [...pages.keys()],
    respond(path, requested) {
      const { bytes, headers } = pages.get(path)!;
      return requested["if-none-match"] === headers.etag
        ? { status: 304, headers }
        : { status: 200, headers, body: bytes };
    },
  };
}

function pageOf(entry: PageEntry): Page {
  return pageFrom(readFileSync(new URL(entry.file, compiledFolder())), entry);
}

function pageFrom(bytes: Buffer, { type }: Pick<PageEntry, "type">): Page {
  return {
    bytes,
    headers: {
      ...SECURITY_HEADERS,
      "content-security-policy": POLICY,
      "content-type": TYPES[type],
      // Asked again each time, and answered with nothing where it is still the same.
      "cache-control": "no-cache",
      etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    },
  };
}

/** From source, as in tests, the files are those of the build too. */
function compiledFolder(): URL {
  const isSource = import.meta.url.endsWith(".ts");
  return new URL(isSource ? "../../dist/src/web/" : "./", import.meta.url);
}
