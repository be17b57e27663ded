import type { AllowList } from "./allow-list.ts";
import { FetchError } from "./fetch-error.ts";

const MAX_URL_CHARACTERS = 2048;
/** The port of a URL is empty if it is the default port of the scheme. */
const WEB_PORTS: readonly string[] = ["", "80", "443"];

/** Whether the port of a URL is a standard port of the web. */
export function isWebPort(port: string): boolean {
  return WEB_PORTS.includes(port);
}

/**
 * Parses the URL of an image: http or https, not too long, without user name and password, and on port 80 or 443 unless
 * the allow list may allow its host. Throws FetchError `badUrl`.
 *
 * Does not resolve the host; the connector checks its addresses.
 */
export function parseImageUrl(text: string, allow: AllowList): URL {
  if (text.length > MAX_URL_CHARACTERS)
    throw new FetchError("badUrl", `The image URL is longer than ${MAX_URL_CHARACTERS} characters.`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new FetchError("badUrl", "The image URL is not a valid http or https URL.");
  if (url.username || url.password)
    throw new FetchError("badUrl", "The image URL must not hold a user name or password.");
  if (!isWebPort(url.port) && !allow.mayAllow(hostFromUrl(url)))
    throw new FetchError("badUrl", "The image URL must use port 80 or 443.");
  return url;
}

/** The host of a URL; an IPv6 address without its brackets. */
function hostFromUrl(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}
