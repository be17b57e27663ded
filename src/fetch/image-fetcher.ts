import { Agent, type Dispatcher } from "undici";
import type { AllowList } from "./allow-list.ts";
import { createConnector, PendingRequests } from "./connector.ts";
import { FetchError, unreachableError } from "./fetch-error.ts";
import { FetchSlots } from "./fetch-slots.ts";
import { readImage } from "./image-body.ts";
import { acceptHeader, DEFAULT_IMAGE_FORMATS, type ImageFormat } from "./image-format.ts";
import { parseImageUrl } from "./image-url.ts";
import { createNameResolver, type NameResolverOptions, type Resolve } from "./name-resolver.ts";

const MAX_REDIRECTS = 3;
const REDIRECT_STATUSES: readonly number[] = [301, 302, 303, 307, 308];
const MAX_CONNECTIONS_PER_HOST = 8;
const MAX_HEADER_BYTES = 16 * 1024;
const IDLE_TIMEOUT_MS = 2000;
const HEADERS = { "accept-encoding": "identity", "user-agent": "visage" };

/** Options of a fetcher. */
export interface ImageFetcherOptions {
  /** Hosts and addresses that are allowed although they are not public. */
  readonly allow: AllowList;
  /** Options of the name resolver; the system's settings by default. */
  readonly names?: NameResolverOptions | undefined;
  /** Replaces the name resolver. */
  readonly resolve?: Resolve | undefined;
  /** For one image, from the look-up of its host to its last byte. */
  readonly timeoutMs: number;
  /** The maximum size of one image. */
  readonly maxBytes: number;
  /** The formats that are accepted; JPEG and PNG by default. */
  readonly formats?: readonly ImageFormat[] | undefined;
}

/** Options of one fetch. */
export interface FetchOptions {
  readonly signal?: AbortSignal | undefined;
  /** A lower limit on the image's size than the fetcher's own. */
  readonly maxBytes?: number | undefined;
  /** The user to count the fetch for: the number of fetches in flight is limited in total and per user. */
  readonly caller?: string | undefined;
}

/** Fetches images from the public internet, and from the hosts and addresses of the allow list. */
export interface ImageFetcher {
  /**
   * Returns the bytes of the image at a URL, through at most three redirects. Throws FetchError, or the
   * signal's reason as soon as it is aborted.
   */
  fetch(url: string, options?: FetchOptions): Promise<Uint8Array>;
  /** Closes all connections; fetches in flight fail. */
  close(): Promise<void>;
}

/**
 * Creates a fetcher with its own connections, at most eight per host. Every connection is checked when it is made, also
 * after a redirect. Does not use the proxies of the environment.
 */
export function createImageFetcher(options: ImageFetcherOptions): ImageFetcher {
  const { allow, names, resolve = createNameResolver(names), timeoutMs } = options;
  const { formats = DEFAULT_IMAGE_FORMATS } = options;
  const headers = { ...HEADERS, accept: acceptHeader(formats) };
  const slots = new FetchSlots();
  const pending = new PendingRequests();
  const agent = new Agent({
    connect: createConnector({ allow, resolve, pending }),
    connections: MAX_CONNECTIONS_PER_HOST,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    keepAliveMaxTimeout: IDLE_TIMEOUT_MS,
    // The fetcher has a timeout of its own. undici's are coarse, and might fire a little earlier as other errors.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  const get = async (url: URL, signal: AbortSignal): Promise<Dispatcher.ResponseData> => {
    signal.throwIfAborted();
    const { origin, pathname, search } = url;
    const request = { origin, path: pathname + search, method: "GET", headers, signal } as const;
    const remove = pending.add(origin);
    try {
      // The race is needed because undici does not abort a request before it is connected.
      const response = await Promise.race([agent.request(request), rejectOnAbort(signal)]);
      // Destroying the body early emits an error, and without a listener it would end the process.
      response.body.on("error", () => {});
      return response;
    } finally {
      remove();
    }
  };

  const follow = async (first: URL, signal: AbortSignal, maxBytes: number): Promise<Uint8Array> => {
    let url = first;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const response = await get(url, signal);
      try {
        const target = redirectTarget(response, url);
        if (target === undefined) return await readResponse(response, maxBytes, formats);
        url = parseTarget(target);
      } finally {
        response.body.destroy();
      }
    }
    throw new Error(`more than ${MAX_REDIRECTS} redirects`);
  };

  const parseTarget = (target: string): URL => {
    try {
      return parseImageUrl(target, allow);
    } catch (fault) {
      // Not `badUrl`: the caller's own URL was valid.
      throw new Error("redirected to a URL that is not allowed", { cause: fault });
    }
  };

  return {
    async fetch(text, { signal, maxBytes = Number.POSITIVE_INFINITY, caller } = {}) {
      signal?.throwIfAborted();
      const url = parseImageUrl(text, allow);
      const freeSlot = slots.take(caller);
      const stop = new AbortController();
      const cancel = () => stop.abort(signal?.reason);
      signal?.addEventListener("abort", cancel);
      const timer = setTimeout(() => stop.abort(tooSlowError(timeoutMs)), timeoutMs);
      try {
        return await follow(url, stop.signal, Math.min(maxBytes, options.maxBytes));
      } catch (fault) {
        stop.signal.throwIfAborted();
        throw fault instanceof FetchError ? fault : unreachableError(fault);
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
        freeSlot();
      }
    },
    close: () => agent.destroy(),
  };
}

/** The target of a redirect, as an absolute URL if it is well-formed; undefined for any other response. */
function redirectTarget({ statusCode, headers }: Dispatcher.ResponseData, from: URL): string | undefined {
  const { location } = headers;
  if (!REDIRECT_STATUSES.includes(statusCode) || typeof location !== "string") return undefined;
  // undici decodes headers as Latin-1, but servers send UTF-8.
  const target = Buffer.from(location, "latin1").toString();
  return URL.canParse(target, from.href) ? new URL(target, from).href : target;
}

async function readResponse(
  response: Dispatcher.ResponseData,
  maxBytes: number,
  formats: readonly ImageFormat[],
): Promise<Uint8Array> {
  const status = response.statusCode;
  if (status < 200 || status > 299)
    throw new FetchError("badStatus", `The image URL answered with status ${status}.`, { status });
  return readImage(response, maxBytes, formats);
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

function tooSlowError(timeoutMs: number): FetchError {
  return new FetchError("tooSlow", `The image did not arrive within ${timeoutMs} milliseconds.`);
}
