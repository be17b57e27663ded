import { setTimeout as delay } from "node:timers/promises";
import type { Authenticator, AuthRequest, LimitStatus } from "../accounts/authenticator.ts";
import { TokenBuckets } from "../accounts/token-buckets.ts";
import { ServiceError } from "../service/service-error.ts";
import type { ByteBudget } from "./byte-budget.ts";
import { clientAddressOf, type TrustedProxies } from "./client-address.ts";
import type { Request } from "./exchange.ts";
import type { RequestContext } from "./request-context.ts";
import { NO_OPERATION } from "./router.ts";

/** What decides whether a request is admitted. */
export interface AdmissionOptions {
  readonly authenticator: Authenticator;
  readonly trustedProxies: TrustedProxies;
  readonly budget: ByteBudget;
  /** Whether the queue would reject a job of this user, by its fingerprint, and when to come back. */
  readonly rejectionFor: (user: string) => { readonly retryAfterMs: number } | undefined;
  /** How many requests of one user are rejected without delay in a second, for want of room. */
  readonly rejectionsPerSecond: number;
  /** Whether the service is shutting down. */
  readonly isDraining: () => boolean;
}

/** Admits a request by its head alone, or throws ServiceError. */
export type Admission = (context: RequestContext) => Promise<void>;

/** Delay before rejecting a client that retries without backing off. */
const REJECTION_DELAY_MS = 1_000;

/**
 * Admission control: authentication, rate, quota, room in the queue and in the byte budget, all before the body is
 * read. In an overload, reading what is then rejected would take what admitted requests need.
 */
export function createAdmission(options: AdmissionOptions): Admission {
  const { authenticator, trustedProxies, budget, rejectionFor, isDraining } = options;
  const rejections = new TokenBuckets();
  const rejectionRate = { perSecond: options.rejectionsPerSecond, burst: options.rejectionsPerSecond };

  return async (context) => {
    if (isDraining()) throw new ServiceError("draining");
    const verdict = authenticator.admit(authRequestFrom(context.request, trustedProxies));
    const admission = verdict instanceof Promise ? await verdict : verdict;
    // From here on the end of the request gives the place in the quota back, however it ends.
    if (admission.admitted) context.admit(admission.caller);
    context.signal.throwIfAborted();
    const limits = admission.admitted ? admission.caller.limits : admission.limits;
    setLimitHeaders(context, limits);
    if (!admission.admitted) {
      const { kind, retryAfterSeconds } = admission;
      const retryAfterMs = retryAfterSeconds && retryAfterSeconds * 1_000;
      throw new ServiceError(kind, undefined, { retryAfterMs });
    }
    const user = admission.caller.fingerprint;
    if (budget.isClosedFor(user)) throw new ServiceError("tooManyInFlight");
    const rejection = context.operation === NO_OPERATION ? undefined : rejectionFor(user);
    if (!rejection) return;
    const isTooOften = rejections.take(user, rejectionRate, performance.now());
    if (isTooOften) await delay(REJECTION_DELAY_MS, undefined, { signal: context.signal });
    throw new ServiceError("overloaded", undefined, rejection);
  };
}

function authRequestFrom({ headers, socket }: Request, trusted: TrustedProxies): AuthRequest {
  const textOf = (value: string | string[] | undefined) => (Array.isArray(value) ? value.join(",") : value);
  return {
    userId: textOf(headers.user_id),
    // Only read for clients that are not known, and while the socket is still there.
    get address() {
      return clientAddressOf(socket?.remoteAddress ?? "", textOf(headers["x-forwarded-for"]), trusted);
    },
  };
}

function setLimitHeaders({ response }: RequestContext, limits: LimitStatus | undefined): void {
  if (!limits) return;
  response.setHeader("ratelimit-limit", String(limits.limit));
  response.setHeader("ratelimit-remaining", String(limits.remaining));
  response.setHeader("ratelimit-reset", String(limits.resetSeconds));
}
