import { Agent, type Dispatcher } from "undici";
import type { AllowList } from "./allow-list.ts";
import { createDialler } from "./dialler.ts";
import { FetchError, unreachableError } from "./fetch-error.ts";
import { FetchSlots } from "./fetch-slots.ts";
import { readImage } from "./image-body.ts";
import { parseImageUrl } from "./image-url.ts";
import { createNameResolver, type NameResolverOptions, type Resolve } from "./name-resolver.ts";
import { Waiters } from "./waiters.ts";

const MOST_REDIRECTS = 3;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const MOST_CONNECTIONS_PER_HOST = 8;
const MOST_HEADER_BYTES = 16 * 1024;
const IDLE_TIMEOUT_MS = 2000;
const HEADERS = { accept: "image/jpeg, image/png", "accept-encoding": "identity", "user-agent": "visage" };

/** Options of a fetcher. */
export interface ImageFetcherOptions {
  /** What may be dialled although it is not public. */
  readonly allow: AllowList;
  /** Where names are looked up; as the system does unless given. */
  readonly names?: NameResolverOptions | undefined;
  /** Looks names up in place of `names`. */
  readonly resolve?: Resolve | undefined;
  /** The longest that one image may take, from the look-up of its host to its last byte. */
  readonly timeoutMs: number;
  /** The most bytes of one image. */
  readonly maxBytes: number;
}

/** Options of one fetch. */
export interface FetchOptions {
  readonly signal?: AbortSignal | undefined;
  /** A limit on the image's size, if it is less than the fetcher's own. */
  readonly maxBytes?: number | undefined;
  /** The user to count the fetch for: the number of fetches in flight is limited in total and per user. */
  readonly caller?: string | undefined;
}

/** Fetches images from wherever callers say, but not from inside the network that it runs in. */
export interface ImageFetcher {
  /**
   * Returns the bytes of the JPEG or PNG at a URL, through at most three redirects. Throws FetchError, or the
   * signal's reason as soon as it is aborted.
   */
  fetch(url: string, options?: FetchOptions): Promise<Uint8Array>;
  /** Closes all connections; fetches in flight fail. */
  close(): Promise<void>;
}

/**
 * Makes a fetcher with connections of its own, at most eight to a host. Every connection, those after a
 * redirect too, is checked when it is dialled. Proxies of the environment are not used.
 */
export function createImageFetcher(options: ImageFetcherOptions): ImageFetcher {
  const { allow, names, resolve = createNameResolver(names), timeoutMs } = options;
  const slots = new FetchSlots();
  const waiters = new Waiters();
  const agent = new Agent({
    connect: createDialler({ allow, resolve, signalOf: (origin) => waiters.signalOf(origin) }),
    connections: MOST_CONNECTIONS_PER_HOST,
    maxHeaderSize: MOST_HEADER_BYTES,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    keepAliveMaxTimeout: IDLE_TIMEOUT_MS,
    // Ours holds for the whole; undici's own are coarse, and might come a little before it under another name.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  const get = async (url: URL, signal: AbortSignal): Promise<Dispatcher.ResponseData> => {
    signal.throwIfAborted();
    const { origin, pathname, search } = url;
    const request = { origin, path: pathname + search, method: "GET", headers: HEADERS, signal } as const;
    const leave = waiters.add(origin);
    try {
      // undici does not let go of a request before it is connected.
      const answer = await Promise.race([agent.request(request), rejectionOf(signal)]);
      // Letting go of a body is an error to its stream, and one that nobody listens to ends the process.
      answer.body.on("error", () => {});
      return answer;
    } finally {
      leave();
    }
  };

  const follow = async (first: URL, signal: AbortSignal, maxBytes: number): Promise<Uint8Array> => {
    let url = first;
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const answer = await get(url, signal);
      try {
        const target = redirectOf(answer, url);
        if (target === undefined) return await readAnswer(answer, maxBytes);
        url = parseTarget(target);
      } finally {
        answer.body.destroy();
      }
    }
    throw new Error(`more than ${MOST_REDIRECTS} redirects, the last to ${url.origin}`);
  };

  const parseTarget = (target: string): URL => {
    try {
      return parseImageUrl(target, allow);
    } catch (fault) {
      // The caller's own URL was fine. Paths and queries may hold secrets, so that the log has neither.
      const { origin } = URL.canParse(target) ? new URL(target) : { origin: "nonsense" };
      throw new Error(`redirected to ${origin}`, { cause: fault });
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

/** Where an answer leads on to, as an absolute URL if it can be made one. */
function redirectOf({ statusCode, headers }: Dispatcher.ResponseData, from: URL): string | undefined {
  const { location } = headers;
  if (!REDIRECTS.includes(statusCode) || typeof location !== "string") return undefined;
  // Headers come as Latin-1, but what is beyond ASCII in them is UTF-8.
  const target = Buffer.from(location, "latin1").toString();
  return URL.canParse(target, from.href) ? new URL(target, from).href : target;
}

async function readAnswer(answer: Dispatcher.ResponseData, maxBytes: number): Promise<Uint8Array> {
  const status = answer.statusCode;
  if (status < 200 || status > 299)
    throw new FetchError("badStatus", `The image URL answered with status ${status}.`, { status });
  return readImage(answer, maxBytes);
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

function tooSlowError(timeoutMs: number): FetchError {
  return new FetchError("tooSlow", `The image did not arrive within ${timeoutMs} milliseconds.`);
}
