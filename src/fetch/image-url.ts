import type { AllowList } from "./allow-list.ts";
import { FetchError } from "./fetch-error.ts";

const MOST_URL_CHARACTERS = 2048;
/** A URL leaves out the port that is usual for its scheme. */
const WEB_PORTS: readonly string[] = ["", "80", "443"];

/** Tells whether a port, as URLs write it, is one where any web server may be. */
export function isWebPort(port: string): boolean {
  return WEB_PORTS.includes(port);
}

/**
 * Reads the URL of an image: http or https, not too long, without user name and password, and on a port other
 * than 80 and 443 only where the list may cover its host. Throws FetchError `badUrl`.
 *
 * Where the host leads is not looked at; that is up to the dialler.
 */
export function parseImageUrl(text: string, allow: AllowList): URL {
  if (text.length > MOST_URL_CHARACTERS)
    throw new FetchError("badUrl", `The image URL is longer than ${MOST_URL_CHARACTERS} characters.`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new FetchError("badUrl", "The image URL is not a valid http or https URL.");
  if (url.username || url.password)
    throw new FetchError("badUrl", "The image URL must not hold a user name or password.");
  if (!isWebPort(url.port) && !allow.mayCover(hostOf(url)))
    throw new FetchError("badUrl", "The image URL must use port 80 or 443.");
  return url;
}

/** The host as sockets want it: an IPv6 address without its brackets. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}
