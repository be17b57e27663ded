import { setTimeout as delay } from "node:timers/promises";
import type { AdminAuthenticator } from "../accounts/admin-authenticator.ts";
import {
  type Caller,
  createUncountedCaller,
  type LimitStatus,
  type Rejection,
  type RejectionKind,
} from "../accounts/admission-result.ts";
import type { Authenticator, AuthRequest } from "../accounts/authenticator.ts";
import { TokenBuckets } from "../accounts/token-buckets.ts";
import { ServiceError } from "../service/service-error.ts";
import type { ByteBudget } from "./byte-budget.ts";
import { clientAddressOf, type TrustedProxies } from "./client-address.ts";
import { clientCertificateOf } from "./client-certificate.ts";
import { bearerTokensFrom, keysFromHeaders } from "./credentials.ts";
import type { Request } from "./exchange.ts";
import { LIMITS } from "./limits.ts";
import type { RequestContext } from "./request-context.ts";
import { NO_OPERATION } from "./route.ts";

/** Options of admission control. */
export interface AdmissionOptions {
  readonly authenticator: Authenticator;
  /** Undefined if there is no admin key. */
  readonly adminAuthenticator: AdminAuthenticator | undefined;
  readonly trustedProxies: TrustedProxies;
  readonly budget: ByteBudget;
  /** Whether the queue would reject a job of this user now, and when to retry. The user is named by its fingerprint. */
  readonly rejectionFor: (user: string) => { readonly retryAfterMs: number } | undefined;
  /** Rejections of one user per second, while the queue is full, that are sent without delay. */
  readonly rejectionsPerSecond: number;
  /** Whether the service is shutting down. */
  readonly isDraining: () => boolean;
}

/** Decides which requests are served. */
export interface Admission {
  /** Admits a request by its head alone. Throws ServiceError for a request that it rejects. */
  admit(context: RequestContext): Promise<void>;
  /**
   * Admits an item of an admitted stream. Waits for the rate limit instead of rejecting the item, so that a stream
   * becomes slower and does not fail. Throws ServiceError, and the signal's reason.
   */
  admitItem(request: Request, signal: AbortSignal): Promise<Caller>;
}

/** Delay before rejecting a client that retries without backing off. */
const REJECTION_DELAY_MS = 1_000;

/** The operator, who has no account. */
const ADMIN = createUncountedCaller("", "admin");

/** The kinds of rejection that always end soon. */
const SHORT_REJECTIONS: readonly RejectionKind[] = ["tooManyRequests", "accountsUnavailable"];

/**
 * Creates the admission stage: authentication, rate limit, quota, room in the queue and in the byte budget. It runs
 * before the body is read, so that rejected requests cost as little as possible in an overload.
 */
export function createAdmission(options: AdmissionOptions): Admission {
  const { authenticator, trustedProxies, budget, rejectionFor, isDraining } = options;
  const rejections = new TokenBuckets();
  const rejectionRate = { perSecond: options.rejectionsPerSecond, burst: options.rejectionsPerSecond };

  async function admit(context: RequestContext): Promise<void> {
    if (isDraining()) throw new ServiceError("draining");
    context.record.clientAddress = clientAddressReader(context.request, trustedProxies);
    if (context.route?.access === "admin") return admitAdmin(context);
    const isAccount = context.route?.access === "account";
    const verdict = authenticator.admit(
      authRequestFrom(context.request, trustedProxies),
      isAccount ? "account" : "operation",
    );
    const admission = verdict instanceof Promise ? await verdict : verdict;
    // From here on the request's end frees the quota slot, however the request ends.
    if (admission.admitted) context.admit(admission.caller);
    context.signal.throwIfAborted();
    const limits = admission.admitted ? admission.caller.limits : admission.limits;
    setLimitHeaders(context, limits);
    if (!admission.admitted) throw recordRejection(context, admission);
    if (context.route?.isStream) {
      context.record.recheckCaller = () => recheck(context);
      // Neither memory nor a worker is needed before the first item of a stream, and items wait for both.
      return;
    }
    const user = admission.caller.fingerprint;
    if (budget.isClosedFor(user)) throw new ServiceError("tooManyInFlight");
    // Only operations need a worker.
    const rejection = isAccount || context.operation === NO_OPERATION ? undefined : rejectionFor(user);
    if (!rejection) return;
    const isExcessive = rejections.take(user, rejectionRate, performance.now());
    if (isExcessive) await delay(REJECTION_DELAY_MS, undefined, { signal: context.signal });
    throw new ServiceError("overloaded", undefined, rejection);
  }

  async function recheck(context: RequestContext): Promise<void> {
    const { request, signal } = context;
    // The certificate of a client that has left cannot be read, which would count as a failed attempt.
    signal.throwIfAborted();
    const admission = await authenticator.admit(authRequestFrom(request, trustedProxies), "continuation");
    // An outage of the accounts ends no stream.
    if (!admission.admitted && admission.kind !== "accountsUnavailable")
      throw recordRejection(context, admission);
    // The plan may have changed.
    if (admission.admitted) context.record.caller = admission.caller;
  }

  function admitAdmin(context: RequestContext): void {
    const { address } = authRequestFrom(context.request, trustedProxies);
    const verdict = options.adminAuthenticator?.check(bearerTokensFrom(context.request), address);
    if (verdict !== "admitted") context.record.failedAuth = { address, credential: "admin key" };
    if (typeof verdict === "object") throw new ServiceError("tooManyRequests", undefined, verdict);
    if (verdict !== "admitted") throw new ServiceError("noAdminKey");
    context.admit(ADMIN);
  }

  async function admitItem(request: Request, signal: AbortSignal): Promise<Caller> {
    const endMs = performance.now() + LIMITS.streamImageWaitMs;
    for (;;) {
      const admission = await authenticator.admit(authRequestFrom(request, trustedProxies));
      if (admission.admitted && !signal.aborted) return admission.caller;
      if (admission.admitted) admission.caller.release();
      signal.throwIfAborted();
      const rejection = admission as Rejection;
      const waitMs = waitAfter(rejection);
      if (waitMs === undefined || performance.now() + waitMs > endMs) throw rejectionError(rejection);
      await delay(waitMs, undefined, { signal });
    }
  }

  return { admit, admitItem };
}

/** How long an item of a stream waits after a rejection; undefined for a rejection that does not end soon. */
function waitAfter(rejection: Rejection): number | undefined {
  const { kind, waitMs } = rejection;
  return waitMs ?? (SHORT_REJECTIONS.includes(kind) ? rejectionError(rejection).retryAfterMs : undefined);
}

/** Records a failed authentication and returns the error of the rejection. */
function recordRejection({ record }: RequestContext, rejection: Rejection): ServiceError {
  record.failedAuth = rejection.failedAuth;
  return rejectionError(rejection);
}

function rejectionError({ kind, message, retryAfterSeconds }: Rejection): ServiceError {
  const retryAfterMs = retryAfterSeconds && retryAfterSeconds * 1_000;
  return new ServiceError(kind, message, { retryAfterMs });
}

function authRequestFrom(request: Request, trusted: TrustedProxies): AuthRequest {
  return {
    keys: keysFromHeaders(request),
    certificate: clientCertificateOf(request.socket),
    // A getter: the address is needed for unauthenticated clients only.
    get address() {
      return clientAddressReader(request, trusted)();
    },
  };
}

/** Returns a function that finds the client address, also after the client has left. */
function clientAddressReader({ headers, socket }: Request, trusted: TrustedProxies): () => string {
  const remoteAddress = socket?.remoteAddress ?? "";
  return () => {
    const forwardedFor = headers["x-forwarded-for"];
    const text = Array.isArray(forwardedFor) ? forwardedFor.join(",") : forwardedFor;
    return clientAddressOf(remoteAddress, text, trusted);
  };
}

function setLimitHeaders({ response }: RequestContext, limits: LimitStatus | undefined): void {
  if (!limits) return;
  response.setHeader("ratelimit-limit", String(limits.limit));
  response.setHeader("ratelimit-remaining", String(limits.remaining));
  response.setHeader("ratelimit-reset", String(limits.resetSeconds));
}
