import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { extname } from "node:path";
import { type Compression, chooseEncoding, compress, SUFFIXES } from "./content-encoding.ts";
import { ASSETS_PATH, FILES, OPENAPI_PATH, PAGES, type Page, SERVICE_INFO_PATH } from "./page-table.ts";
import { isPageOff, type SwitchedOff, withoutLinks, withoutOperations } from "./switched-off.ts";

/** The response to a request for a page. */
export interface PageResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** The static pages of the service. */
export interface Pages {
  readonly paths: readonly string[];
  /** Returns the file at one of the paths, a redirect, or 304 without a body if the client has the current version. */
  respond(path: string, headers: IncomingHttpHeaders): PageResponse;
}

/** The limits that the pages check before they send a photo. */
export interface PageLimits {
  readonly maxImageBytes: number;
  readonly maxImagePixels: number;
  /** Accepted formats, such as `jpeg`. */
  readonly imageFormats: readonly string[];
}

/** What decides which pages are served. */
export interface PageOptions extends PageLimits, SwitchedOff {
  /** Without it, the pages of the operator are not served. */
  readonly adminKey: string | undefined;
}

/** The responses with a file, by encoding. */
type ServedFile = { readonly identity: PageResponse } & Readonly<Partial<Record<Compression, PageResponse>>>;

/** The media type by extension. Text is served compressed; images are compressed already. */
const TYPES: Readonly<Record<string, { readonly type: string; readonly isText: boolean }>> = {
  ".html": { type: "text/html; charset=utf-8", isText: true },
  ".css": { type: "text/css; charset=utf-8", isText: true },
  ".js": { type: "text/javascript; charset=utf-8", isText: true },
  ".json": { type: "application/json", isText: true },
  ".svg": { type: "image/svg+xml", isText: true },
  ".md": { type: "text/plain; charset=utf-8", isText: true },
  ".proto": { type: "text/plain; charset=utf-8", isText: true },
  ".binpb": { type: "application/protobuf", isText: true },
  ".ico": { type: "image/x-icon", isText: false },
  ".webp": { type: "image/webp", isText: false },
  ".jpg": { type: "image/jpeg", isText: false },
  ".png": { type: "image/png", isText: false },
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
  "content-security-policy": POLICY,
};

/** Revalidated each time; an unchanged file is answered with 304. */
const REVALIDATED = "no-cache";
/** For names that contain a hash of the content. */
const IMMUTABLE = "public, max-age=31536000, immutable";

/** Reads all pages into memory. Throws if a file is missing. */
export function openPages(options: PageOptions): Pages {
  const pages = PAGES.filter(
    (page) => (!page.isForOperator || options.adminKey !== undefined) && !isPageOff(page, options.off),
  );
  const files = new Map([
    ...readPages(pages, options),
    ...readAssets(),
    [SERVICE_INFO_PATH, serviceInfo(options)],
  ]);
  const redirections = redirects(pages);
  return {
    paths: [...files.keys(), ...redirections.keys()],
    respond(path, requestHeaders) {
      const location = redirections.get(path);
      if (location !== undefined) return redirectTo(location);
      const file = files.get(path)!;
      const response = file[chooseEncoding(requestHeaders["accept-encoding"])] ?? file.identity;
      const { headers } = response;
      return hasCurrentVersion(requestHeaders, headers.etag!) ? { status: 304, headers } : response;
    },
  };
}

function* readPages(
  pages: readonly Page[],
  switchedOff: SwitchedOff,
): Generator<[path: string, file: ServedFile]> {
  const isWhole = switchedOff.off.length === 0;
  const htmlEdit = isWhole ? undefined : (text: string) => withoutLinks(text, switchedOff);
  const openApiEdit = isWhole ? undefined : (text: string) => withoutOperations(text, switchedOff);
  for (const { name, path } of pages)
    yield [path, readServedFile(`pages/${name}.html`, REVALIDATED, htmlEdit)];
  for (const { path, file } of FILES)
    yield [path, readServedFile(file, REVALIDATED, path === OPENAPI_PATH ? openApiEdit : undefined)];
}

function* readAssets(): Generator<[path: string, file: ServedFile]> {
  const names = readdirSync(new URL("assets/", compiledFolder()));
  for (const name of names)
    if (extname(name) in TYPES) yield [ASSETS_PATH + name, readServedFile(`assets/${name}`, IMMUTABLE)];
}

function serviceInfo(options: PageOptions): ServedFile {
  const { maxImageBytes, maxImagePixels, imageFormats, off, needs } = options;
  const manifest = readFileSync(new URL("../../../package.json", compiledFolder()), "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  const info = JSON.stringify({
    version,
    maxImageBytes,
    maxImagePixels,
    imageFormats,
    off,
    needs,
  });
  return createServedFile(Buffer.from(info), ".json", REVALIDATED);
}

/** Reads a file and what the build has compressed of it, unless its text is edited. */
function readServedFile(file: string, cacheControl: string, edit?: (text: string) => string): ServedFile {
  const url = new URL(file, compiledFolder());
  if (edit)
    return createServedFile(Buffer.from(edit(readFileSync(url, "utf8"))), extname(file), cacheControl);
  return createServedFile(readFileSync(url), extname(file), cacheControl, (compression) => {
    const compressed = new URL(url.href + SUFFIXES[compression]);
    return existsSync(compressed) ? readFileSync(compressed) : undefined;
  });
}

function createServedFile(
  bytes: Buffer,
  extension: string,
  cacheControl: string,
  precompressed: (compression: Compression) => Buffer | undefined = () => undefined,
): ServedFile {
  const { type, isText } = TYPES[extension]!;
  const digest = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
  const responseIn = (encoding: keyof ServedFile, body: Buffer): PageResponse => ({
    status: 200,
    headers: {
      ...SECURITY_HEADERS,
      "content-type": type,
      "cache-control": cacheControl,
      // A strong tag must differ between encodings.
      etag: encoding === "identity" ? `"${digest}"` : `"${digest}-${encoding}"`,
      // The edge adds CORS headers by origin.
      ...(isText && { vary: "Accept-Encoding, Origin" }),
      ...(encoding !== "identity" && { "content-encoding": encoding }),
    },
    body,
  });
  const identity = responseIn("identity", bytes);
  if (!isText) return { identity };
  return {
    identity,
    br: responseIn("br", precompressed("br") ?? compress(bytes, "br")),
    gzip: responseIn("gzip", precompressed("gzip") ?? compress(bytes, "gzip")),
  };
}

/** Whether the client has the file with this tag. Proxies that compress make a tag weak. */
function hasCurrentVersion({ "if-none-match": known }: IncomingHttpHeaders, etag: string): boolean {
  if (known === undefined) return false;
  return known.split(",").some((tag) => [etag, "*"].includes(tag.trim().replace(/^W\//, "")));
}

/**
 * The redirects by path: `/NAME` and `/NAME/` lead to the page, whatever its path is. The locations are relative,
 * because a proxy may serve the site below a path of its own.
 */
function redirects(pages: readonly Page[]): ReadonlyMap<string, string> {
  const locations = new Map<string, string>();
  for (const { name, path } of pages) {
    const target = path.slice(1);
    if (path !== `/${name}`) locations.set(`/${name}`, `./${target}`);
    locations.set(`/${name}/`, `../${target}`);
  }
  return locations;
}

function redirectTo(location: string): PageResponse {
  return { status: 308, headers: { ...SECURITY_HEADERS, location, "cache-control": REVALIDATED } };
}

/** Tests run from source but serve the built files as well. */
function compiledFolder(): URL {
  const isSource = import.meta.url.endsWith(".ts");
  return new URL(isSource ? "../../dist/src/web/" : "./", import.meta.url);
}
