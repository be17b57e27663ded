import {
  errorFromJson,
  errorFromProxy,
  isErrorEnvelope,
  RequestError,
  type ResponseHead,
} from "./request-error.ts";
import { readKey } from "./session.ts";
import { plural } from "./words.ts";

/** A call of the service. */
export interface ServiceCall {
  /** GET without a body and POST with one, unless it is set. */
  readonly method?: string;
  /** Path and query, relative to the page. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A form or a file. */
  readonly body?: FormData | Blob;
  /** A body in JSON, instead of `body`. */
  readonly json?: unknown;
  /** The API key to send: that of the session, unless it is set. */
  readonly key?: string;
  /** Cancels the call. */
  readonly signal?: AbortSignal | undefined;
  /** How long the upload may stand still, and how long the service may take after it. */
  readonly timeoutMs?: number;
  /** Called with the share of the body that is sent, from 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined;
}

/** A successful response. */
export interface ServiceResponse<Body> extends ResponseHead {
  readonly body: Body;
  readonly roundTripMs: number;
}

/** How long a call may stand still, unless it says otherwise. */
export const TIMEOUT_MS = 60_000;

/** The code of the service for a key that it does not know. */
const UNKNOWN_USER = "4002";

/**
 * Calls the service. Throws RequestError if there is no successful response, with a message for the user.
 * The key is sent as `x-api-key`: proxies drop headers with an underscore, and may use `authorization` themselves.
 */
export function callService<Body>(call: ServiceCall): Promise<ServiceResponse<Body>> {
  const { signal, timeoutMs = TIMEOUT_MS, onProgress } = call;
  const body = call.json === undefined ? call.body : JSON.stringify(call.json);
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(cancelled());
    const headers = headersOf(call);
    // Unlike fetch, this reports the progress of an upload.
    const http = new XMLHttpRequest();
    const startMs = performance.now();
    let timer: ReturnType<typeof setTimeout>;
    let isSent = body === undefined;
    const watch = () => {
      clearTimeout(timer);
      timer = setTimeout(() => end(() => reject(timedOut(timeoutMs, isSent))), timeoutMs);
    };
    const onAbort = () => end(() => reject(cancelled()));
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      settle();
      http.abort();
    };
    http.upload.onprogress = ({ loaded, total }) => {
      watch();
      onProgress?.(total > 0 ? loaded / total : 0);
    };
    http.upload.onload = () => {
      isSent = true;
      watch();
    };
    http.onprogress = watch;
    http.onload = () =>
      end(() => {
        try {
          resolve(readResponse(http, performance.now() - startMs));
        } catch (error) {
          reject(error);
        }
      });
    http.onerror = () => end(() => reject(unreachable()));
    signal?.addEventListener("abort", onAbort);
    http.open(call.method ?? (body === undefined ? "GET" : "POST"), new URL(call.path, document.baseURI));
    for (const [name, value] of Object.entries(headers)) http.setRequestHeader(name, value);
    watch();
    http.send(body);
  });
}

/** What a header can carry. Browsers throw for other characters. */
export const SENDABLE_KEY = /^[\x21-\x7e]*$/;

/** The headers of a call, with its key. Throws RequestError if a header cannot carry the key. */
export function headersOf({
  headers,
  json,
  key = readKey(),
}: Pick<ServiceCall, "headers" | "json" | "key">): Record<string, string> {
  if (!SENDABLE_KEY.test(key))
    throw new RequestError("The API key has spaces or characters other than ASCII.", {
      kind: "service",
      code: UNKNOWN_USER,
      isRetryable: false,
    });
  return {
    ...(json !== undefined && { "content-type": "application/json" }),
    ...(key && { "x-api-key": key }),
    ...headers,
  };
}

function readResponse<Body>(http: XMLHttpRequest, roundTripMs: number): ServiceResponse<Body> {
  const head: ResponseHead = { status: http.status, header: (name) => http.getResponseHeader(name) };
  const isSuccess = http.status >= 200 && http.status < 300;
  const body = parseJson(http, head);
  if (!isSuccess || isErrorEnvelope(body)) throw errorFromJson(head, body);
  return { ...head, body: body as Body, roundTripMs };
}

function parseJson({ status, responseText }: XMLHttpRequest, head: ResponseHead): unknown {
  if (status === 204) return undefined;
  try {
    return JSON.parse(responseText);
  } catch {
    throw errorFromProxy(head);
  }
}

export function cancelled(): RequestError {
  return new RequestError("Cancelled.", { kind: "cancelled", isRetryable: true });
}

export function unreachable(): RequestError {
  return new RequestError("The service could not be reached.", { kind: "unreachable", isRetryable: true });
}

export function timedOut(timeoutMs: number, isSent: boolean): RequestError {
  const seconds = plural(Math.round(timeoutMs / 1000), "second");
  const message = isSent
    ? `The service did not answer within ${seconds}.`
    : `The upload made no progress for ${seconds}.`;
  return new RequestError(message, { kind: "timeout", isRetryable: true });
}
