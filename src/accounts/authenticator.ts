import { AccountCache, type AccountLookup } from "./account-cache.ts";
import {
  type Account,
  type AccountStore,
  MAX_LIVE_KEYS,
  type Plan,
  SUCCESS_OUTCOME,
} from "./account-store.ts";
import { FailedAuthLimiter } from "./failed-auth-limiter.ts";
import { MonthClock } from "./month-clock.ts";
import { MonthlyUsageTable } from "./monthly-usage.ts";
import { TokenBuckets } from "./token-buckets.ts";
import { UsageCounter } from "./usage-counter.ts";
import { fingerprintFromHash, hashUserId } from "./user-id.ts";

/** The parts of a request that authentication needs. */
export interface AuthRequest {
  /** The distinct keys that the request carries. */
  readonly keys: readonly string[];
  /** Client address. May be computed lazily: it is not read for users whose account is cached and valid. */
  readonly address: string;
}

/** State of a rate limit or quota. */
export interface LimitStatus {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the full limit is available again. */
  readonly resetSeconds: number;
}

/** The user of an admitted request. */
export interface Caller {
  readonly fingerprint: string;
  readonly maxImageBytes: number | undefined;
  /** State of the monthly quota; undefined if the plan has none. */
  readonly limits: LimitStatus | undefined;
  /**
   * Ends the request, counts it and releases its reserved quota. Every admitted request must call it; only the first
   * call has an effect. The outcome is `ok` or the reason of an error.
   */
  finish(operation: string, outcome: string): void;
}

/** Why a request is not admitted. A disabled user gets the same kind as an unknown one. */
export type RejectionKind =
  | "noUserId"
  | "unknownUser"
  | "noSubscription"
  | "quotaSpent"
  | "tooManyRequests"
  | "accountsUnavailable";

/** The result for a request that is not admitted. */
export interface Rejection {
  readonly admitted: false;
  readonly kind: RejectionKind;
  /** A more precise message than the one of the kind, if there is one. */
  readonly message: string | undefined;
  /** A positive integer; undefined if a retry cannot succeed. */
  readonly retryAfterSeconds: number | undefined;
  /** State of the limit that was exceeded: the monthly quota or the rate limit. */
  readonly limits: LimitStatus | undefined;
}

export type AdmissionResult = { readonly admitted: true; readonly caller: Caller } | Rejection;

/** Authenticates users, enforces the limits of their plans and counts their usage. */
export interface Authenticator {
  /** Returns synchronously if the account is cached, otherwise after reading it. Never rejects. */
  admit(request: AuthRequest): AdmissionResult | Promise<AdmissionResult>;
  /** Whether the last read of an account and the last write of usage succeeded. */
  readonly accountsAvailable: boolean;
  /** Writes the remaining counts. Call it after every caller has finished. Does not close the store. */
  close(): Promise<void>;
}

/** Options of an authenticator. */
export interface AuthenticatorOptions {
  readonly store: Pick<AccountStore, "findAccount" | "addUsage">;
  /** How long known users are admitted while the store is unavailable, since the last read of their account. */
  readonly graceMs: number;
  /** Called once per outage of reads or writes, and for usage that is lost at the end. */
  readonly onStoreError: (error: unknown) => void;
}

type AddressSource = Pick<AuthRequest, "address">;

interface RejectionDetails {
  readonly message?: string | undefined;
  readonly retrySeconds?: number | undefined;
  readonly limits?: LimitStatus | undefined;
}

const CONTRADICTION = "The credentials of the request do not belong to one user.";

/** Retry delay where the duration of a condition is not known. */
const DEFAULT_RETRY_SECONDS = 1;

/**
 * Creates an authenticator. The monthly quota is shared by all authenticators on one store and exact if there is only
 * one. Several together may exceed it by what they serve in the few seconds until they read each other's counts. The
 * rate limit applies to each authenticator alone.
 */
export function createAuthenticator({ store, graceMs, onStoreError }: AuthenticatorOptions): Authenticator {
  const usageCounter = new UsageCounter(store, onStoreError);
  const clock = new MonthClock();
  const monthlyUsage = new MonthlyUsageTable();
  const rateLimits = new TokenBuckets();
  const failedAuthLimiter = new FailedAuthLimiter();
  const accounts = new AccountCache({ read: readAccount, graceMs, onStoreError });

  async function readAccount(idHash: string): Promise<Account | undefined> {
    const month = clock.now().name;
    const account = await store.findAccount(idHash, month);
    if (!account) monthlyUsage.delete(idHash);
    else if (month === clock.now().name) {
      const unsent = usageCounter.unsentSuccesses(idHash, month);
      monthlyUsage.get(idHash, month).updateFromStore(account.usedThisMonth, unsent);
    }
    return account;
  }

  function decide(lookups: readonly AccountLookup[], address: AddressSource): AdmissionResult {
    if (lookups.includes("unavailable"))
      return createRejection("accountsUnavailable", { retrySeconds: DEFAULT_RETRY_SECONDS });
    const [account, ...others] = lookups as readonly (Account | "unknown")[];
    if (account === undefined) return rejectFailedAuth("noUserId", address);
    // The message does not depend on which of the keys is valid.
    if (others.some((other) => !isSameUser(account, other)))
      return rejectFailedAuth("unknownUser", address, CONTRADICTION);
    if (account === "unknown" || !account.user.enabled) return rejectFailedAuth("unknownUser", address);
    const { user, plan } = account;
    const nowMs = Date.now();
    if (nowMs < user.startsAt.getTime() || (user.endsAt && nowMs >= user.endsAt.getTime()))
      return createRejection("noSubscription");
    return checkRate(user.idHash, plan) ?? admitWithinQuota(user.idHash, plan);
  }

  function rejectFailedAuth(
    kind: "noUserId" | "unknownUser",
    { address }: AddressSource,
    message?: string,
  ): Rejection {
    const retrySeconds = failedAuthLimiter.recordFailure(address);
    return retrySeconds === undefined
      ? createRejection(kind, { message })
      : createRejection("tooManyRequests", { retrySeconds });
  }

  function checkRate(idHash: string, { requestsPerSecond, burst }: Plan): Rejection | undefined {
    if (requestsPerSecond === undefined) return undefined;
    const shortage = rateLimits.take(idHash, { perSecond: requestsPerSecond, burst }, performance.now());
    return (
      shortage &&
      createRejection("tooManyRequests", {
        retrySeconds: shortage.nextTokenSeconds,
        limits: { limit: burst, remaining: 0, resetSeconds: Math.ceil(shortage.fullSeconds) },
      })
    );
  }

  function admitWithinQuota(idHash: string, plan: Plan): AdmissionResult {
    const { name: month, secondsLeft } = clock.now();
    const usage = monthlyUsage.get(idHash, month);
    const limit = plan.requestsPerMonth;
    const left = limit === undefined ? Number.POSITIVE_INFINITY : limit - usage.used - usage.inFlight;
    const quotaStatus = (remaining: number): LimitStatus | undefined =>
      limit === undefined ? undefined : { limit, remaining, resetSeconds: secondsLeft };
    if (left < 1) {
      // Requests in flight that fail release the quota that they reserve.
      const retrySeconds = left + usage.inFlight < 1 ? secondsLeft : DEFAULT_RETRY_SECONDS;
      return createRejection("quotaSpent", { retrySeconds, limits: quotaStatus(0) });
    }

    usage.start();
    let isFinished = false;
    const caller: Caller = {
      fingerprint: fingerprintFromHash(idHash),
      maxImageBytes: plan.maxImageBytes,
      limits: quotaStatus(left - 1),
      finish: (operation, outcome) => {
        if (isFinished) return;
        isFinished = true;
        usage.finish(outcome === SUCCESS_OUTCOME);
        usageCounter.add(idHash, month, operation, outcome);
      },
    };
    return { admitted: true, caller };
  }

  return {
    admit: (request) => {
      // Checked before the look-ups, so that a request with many keys costs no more than others.
      if (request.keys.length > MAX_LIVE_KEYS) return rejectFailedAuth("unknownUser", request, CONTRADICTION);
      const hashes = request.keys.map(hashUserId);
      const retrySeconds = hashes.every((hash) => accounts.isKnown(hash))
        ? undefined
        : failedAuthLimiter.retryAfterSeconds(request.address);
      if (retrySeconds !== undefined) return createRejection("tooManyRequests", { retrySeconds });
      const found = hashes.map((hash) => accounts.find(hash));
      if (!found.some((lookup) => lookup instanceof Promise))
        return decide(found as readonly AccountLookup[], request);
      // Read the address now: a client that disconnects meanwhile no longer has one.
      const { address } = request;
      return Promise.all(found).then((lookups) => decide(lookups, { address }));
    },
    get accountsAvailable() {
      return !accounts.isUnavailable && !usageCounter.isFailing;
    },
    close: () => usageCounter.close(),
  };
}

function isSameUser(account: Account | "unknown", other: Account | "unknown"): boolean {
  return account !== "unknown" && other !== "unknown" && account.user.idHash === other.user.idHash;
}

function createRejection(
  kind: RejectionKind,
  { message, retrySeconds, limits }: RejectionDetails = {},
): Rejection {
  const retryAfterSeconds = retrySeconds && Math.max(1, Math.ceil(retrySeconds));
  return { admitted: false, kind, message, retryAfterSeconds, limits };
}
