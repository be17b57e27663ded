/** Why a call of the service failed. */
export type FailureKind =
  /** The service answered with an error. */
  | "service"
  /** Something between the page and the service answered, such as a proxy. */
  | "proxy"
  | "unreachable"
  | "timeout"
  | "cancelled";

/** What is known about a failed call. */
export interface FailureFacts {
  readonly kind: FailureKind;
  readonly status?: number | undefined;
  /** The stable code of the error table, such as `3001`. */
  readonly code?: string | undefined;
  /** The stable name of the error, such as `NO_FACE`. */
  readonly reason?: string | undefined;
  readonly isRetryable: boolean;
  readonly retryAfterSeconds?: number | undefined;
  /** Until the limit that was exceeded is reset. */
  readonly resetSeconds?: number | undefined;
  readonly requestId?: string | undefined;
  /** The field of the image that caused the error. */
  readonly imageField?: string | undefined;
  /** The body of the response, if it was JSON. */
  readonly body?: unknown;
}

/** A failed call of the service. The message is one sentence for the user. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly facts: FailureFacts;

  constructor(message: string, facts: FailureFacts) {
    super(message);
    this.facts = facts;
  }
}

/** The head of a response. */
export interface ResponseHead {
  readonly status: number;
  header(name: string): string | null;
}

/** The error of a response in JSON, which is either the envelope of face.v1 or a google.rpc.Status. */
export function errorFromJson(head: ResponseHead, body: unknown): RequestError {
  const { message, code, reason, retryable } = isEnvelope(body) ? readEnvelope(body) : readStatus(body);
  return new RequestError(message ?? `The service answered ${statusText(head.status)}.`, {
    ...factsFrom(head),
    kind: "service",
    code,
    reason,
    isRetryable: retryable ?? false,
    imageField: head.header("x-visage-image") ?? undefined,
    body,
  });
}

/** The error of a response that is not JSON. The service answers in JSON only, so a proxy wrote it. */
export function errorFromProxy(head: ResponseHead): RequestError {
  const { status } = head;
  const message =
    status < 400
      ? `The proxy answered ${statusText(status)} with a page instead of a result.`
      : `The proxy answered ${statusText(status)}.`;
  return new RequestError(message, { ...factsFrom(head), kind: "proxy", isRetryable: status >= 500 });
}

/** Whether a body reports an error with HTTP status 200, as the service does in legacy mode. */
export function isErrorEnvelope(body: unknown): boolean {
  return isEnvelope(body) && !body.success;
}

interface Envelope {
  readonly success: boolean;
  readonly code?: string;
  readonly message?: string;
  readonly data?: { readonly reason?: string; readonly retryable?: boolean };
}

function isEnvelope(body: unknown): body is Envelope {
  return typeof body === "object" && body !== null && "success" in body;
}

interface ErrorText {
  readonly message?: string | undefined;
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  readonly retryable?: boolean | undefined;
}

function readEnvelope({ message, code, data }: Envelope): ErrorText {
  return { message, code, reason: data?.reason, retryable: data?.retryable };
}

function readStatus(body: unknown): ErrorText {
  const status = (body ?? {}) as ErrorText & {
    readonly details?: readonly { readonly metadata?: { readonly code?: string } }[];
  };
  const code = status.details?.find(({ metadata }) => metadata?.code !== undefined)?.metadata?.code;
  return { message: status.message, code, reason: status.reason, retryable: status.retryable };
}

function factsFrom({
  status,
  header,
}: ResponseHead): Pick<FailureFacts, "status" | "retryAfterSeconds" | "resetSeconds" | "requestId"> {
  return {
    status,
    retryAfterSeconds: secondsFrom(header("retry-after")),
    resetSeconds: secondsFrom(header("ratelimit-reset")),
    requestId: header("x-request-id") ?? undefined,
  };
}

/** Reads seconds, or the date that proxies may send as Retry-After. */
function secondsFrom(text: string | null): number | undefined {
  if (text === null) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1000);
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

/** HTTP/2 has no reason phrases, so the common ones of proxies are here. */
const REASON_PHRASES: Readonly<Record<number, string>> = {
  403: "Forbidden",
  404: "Not Found",
  408: "Request Timeout",
  413: "Content Too Large",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

function statusText(status: number): string {
  const phrase = REASON_PHRASES[status];
  return phrase ? `${status} ${phrase}` : String(status);
}
