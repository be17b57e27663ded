import { AccountCache, type AccountLookup } from "./account-cache.ts";
import { type Account, type AccountStore, SUCCESS_OUTCOME, type UserSelector } from "./account-store.ts";
import {
  type AdmissionResult,
  type Caller,
  createRejection,
  type FailedAuth,
  type LimitStatus,
  type Rejection,
} from "./admission-result.ts";
import { FailedAuthLimiter } from "./failed-auth-limiter.ts";
import { type CredentialLookups, type IdentificationFault, identifyUser } from "./identify-user.ts";
import { fingerprintOf, hashKey } from "./key.ts";
import { MonthClock } from "./month-clock.ts";
import { MonthlyUsageTable } from "./monthly-usage.ts";
import { type Rate, TokenBuckets } from "./token-buckets.ts";
import { UsageCounter } from "./usage-counter.ts";

/** The parts of a request that authentication needs. */
export interface AuthRequest {
  /** The distinct keys that the request carries. */
  readonly keys: readonly string[];
  /** The client certificate, if there is one. Its subject is undefined if it is not trusted. */
  readonly certificate?: { readonly subject: string | undefined } | undefined;
  /** Client address. May be computed lazily: it is not read for users whose account is cached and valid. */
  readonly address: string;
}

/**
 * What a request is for: an operation, which needs an active subscription and counts against the quota, or the user's
 * own account, which needs neither. The continuation of an admitted stream needs the subscription and counts nothing.
 */
export type Purpose = "operation" | "account" | "continuation";

/** Authenticates users, enforces the limits of their plans and counts their usage. */
export interface Authenticator {
  /** Returns synchronously if the account is cached, otherwise after reading it. Never rejects. */
  admit(request: AuthRequest, purpose?: Purpose): AdmissionResult | Promise<AdmissionResult>;
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
  /** Called when both reads and writes succeed again. */
  readonly onStoreRecovery?: () => void;
}

/** Keys of one request: an old and a new one, in different headers. */
const MAX_KEYS = 2;

type AddressSource = Pick<AuthRequest, "address">;

/** Requests of a user about its own account. The rate of its plan may be used up by programs. */
const ACCOUNT_RATE = { perSecond: 5, burst: 20 };

const CONTRADICTION = "The credentials of the request do not belong to one user.";
const UNTRUSTED_CERTIFICATE = "The client certificate is not trusted or has no common name.";
const UNKNOWN_CERTIFICATE = "The client certificate belongs to no user.";

/** Distinguishes the subjects of certificates from the hashes of keys in the cache. */
const CERTIFICATE_PREFIX = "certificate ";

/** Retry delay where the duration of a condition is not known. */
const DEFAULT_RETRY_SECONDS = 1;

/** How long to wait before looking again whether a request in flight has released its quota: about one request. */
const RESERVED_QUOTA_WAIT_MS = 100;

/**
 * Creates an authenticator. The monthly quota is shared by all authenticators on one store and exact if there is only
 * one. Several together may exceed it by what they serve in the few seconds until they read each other's counts. The
 * rate limit applies to each authenticator alone.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { store, graceMs, onStoreError } = options;
  const isAvailable = () => !accounts.isUnavailable && !usageCounter.isFailing;
  const onStoreRecovery = () => {
    if (isAvailable()) options.onStoreRecovery?.();
  };
  const usageCounter = new UsageCounter(store, onStoreError, onStoreRecovery);
  const clock = new MonthClock();
  const monthlyUsage = new MonthlyUsageTable();
  const rateLimits = new TokenBuckets();
  const accountRateLimits = new TokenBuckets();
  const failedAuthLimiter = new FailedAuthLimiter();
  const accounts = new AccountCache({ read: readAccount, graceMs, onStoreError, onStoreRecovery });

  async function readAccount(credential: string): Promise<Account | undefined> {
    const { month } = clock.now();
    const account = await store.findAccount(selectorFrom(credential), month);
    if (account && month === clock.now().month) {
      const { id } = account.user;
      const unsent = usageCounter.unsentSuccesses(id, month);
      monthlyUsage.get(id, month).updateFromStore(account.usedThisMonth, unsent);
    }
    return account;
  }

  /** Decides on a request with at least one credential. */
  function decide(
    lookups: CredentialLookups,
    keyHashes: readonly string[],
    source: AddressSource,
    purpose: Purpose,
  ): AdmissionResult {
    const found = identifyUser(lookups);
    if (found === "unavailable")
      return createRejection("accountsUnavailable", { retrySeconds: DEFAULT_RETRY_SECONDS });
    if (typeof found === "string" || !found.user.enabled)
      return rejectFailedAuth(
        "unknownUser",
        failedAuthFrom(source, keyHashes),
        messageFrom(found, keyHashes),
      );
    const { user, plan } = found;
    if (purpose === "account")
      return checkRate(accountRateLimits, user.id, ACCOUNT_RATE) ?? admitUncounted(found, keyHashes);
    const nowMs = Date.now();
    if (nowMs < user.startsAt.getTime() || (user.endsAt && nowMs >= user.endsAt.getTime()))
      return createRejection("noSubscription");
    if (purpose === "continuation") return admitUncounted(found, keyHashes);
    const { requestsPerSecond: perSecond, burst } = plan;
    const rejection =
      perSecond === undefined ? undefined : checkRate(rateLimits, user.id, { perSecond, burst });
    return rejection ?? admitWithinQuota(found, keyHashes);
  }

  function rejectFailedAuth(
    kind: "noUserId" | "unknownUser",
    failedAuth: FailedAuth,
    message?: string,
  ): Rejection {
    const retrySeconds = failedAuthLimiter.recordFailure(failedAuth.address);
    return retrySeconds === undefined
      ? createRejection(kind, { message, failedAuth })
      : createRejection("tooManyRequests", { retrySeconds, failedAuth });
  }

  function checkRate(buckets: TokenBuckets, userId: string, rate: Rate): Rejection | undefined {
    const shortage = buckets.take(userId, rate, performance.now());
    if (!shortage) return undefined;
    const rejection = createRejection("tooManyRequests", {
      retrySeconds: shortage.nextTokenSeconds,
      limits: { limit: rate.burst, remaining: 0, resetSeconds: Math.ceil(shortage.fullSeconds) },
    });
    return { ...rejection, waitMs: Math.ceil(shortage.nextTokenSeconds * 1_000) };
  }

  /** The usage of the current month, what is left of the quota, and its state with that many requests remaining. */
  function readQuota({ user, plan }: Account) {
    const { month, day, secondsLeft } = clock.now();
    const usage = monthlyUsage.get(user.id, month);
    const limit = plan.requestsPerMonth;
    const left = limit === undefined ? Number.POSITIVE_INFINITY : limit - usage.used - usage.inFlight;
    const statusWith = (remaining: number): LimitStatus | undefined =>
      limit === undefined ? undefined : { limit, remaining, resetSeconds: secondsLeft };
    return { day, usage, left, statusWith };
  }

  /** Admits a request that is not counted. */
  function admitUncounted(account: Account, keyHashes: readonly string[]): AdmissionResult {
    const { left, statusWith } = readQuota(account);
    const caller: Caller = {
      ...callerFrom(account, keyHashes),
      limits: statusWith(Math.max(0, left)),
      finish: () => usageCounter.addKeyUses(keyHashes),
      release: () => {},
    };
    return { admitted: true, caller };
  }

  function rejectReservedQuota(limits: LimitStatus | undefined): Rejection {
    const message = "The rest of the monthly quota is reserved by requests in progress.";
    const details = { message, retrySeconds: DEFAULT_RETRY_SECONDS, limits };
    return { ...createRejection("tooManyInFlight", details), waitMs: RESERVED_QUOTA_WAIT_MS };
  }

  function admitWithinQuota(account: Account, keyHashes: readonly string[]): AdmissionResult {
    const { id: userId } = account.user;
    const { day, usage, left, statusWith } = readQuota(account);
    const key = usage.countedKey(fingerprintOf(keyHashes[0] ?? ""));
    // Not retryable: the next month is days away.
    if (left + usage.inFlight < 1) return createRejection("quotaSpent", { limits: statusWith(0) });
    // Requests in flight that fail release the quota that they reserve.
    if (left < 1) return rejectReservedQuota(statusWith(0));

    usage.start();
    let isFinished = false;
    const caller: Caller = {
      ...callerFrom(account, keyHashes),
      limits: statusWith(left - 1),
      finish: (operation, outcome) => {
        if (isFinished) return;
        isFinished = true;
        usage.finish(outcome === SUCCESS_OUTCOME);
        usageCounter.add({ userId, day, key, operation, outcome }, keyHashes);
      },
      release: () => {
        if (isFinished) return;
        isFinished = true;
        usage.finish(false);
      },
    };
    return { admitted: true, caller };
  }

  return {
    admit: (request, purpose = "operation") => {
      const { keys, certificate } = request;
      // Checked before the look-ups, so that a request with many keys costs no more than others.
      if (keys.length > MAX_KEYS)
        return rejectFailedAuth("unknownUser", failedAuthFrom(request, keys), CONTRADICTION);
      const keyHashes = keys.map(hashKey);
      const subject = certificate?.subject;
      const credentials = subject === undefined ? keyHashes : [...keyHashes, CERTIFICATE_PREFIX + subject];
      if (credentials.length === 0)
        return certificate
          ? rejectFailedAuth("unknownUser", failedAuthFrom(request, keys), UNTRUSTED_CERTIFICATE)
          : rejectFailedAuth("noUserId", { address: request.address, credential: "none" });
      const retrySeconds = credentials.every((credential) => accounts.isKnown(credential))
        ? undefined
        : failedAuthLimiter.retryAfterSeconds(request.address);
      if (retrySeconds !== undefined)
        return createRejection("tooManyRequests", {
          retrySeconds,
          failedAuth: failedAuthFrom(request, keys),
        });
      const found = credentials.map((credential) => accounts.find(credential));
      if (!found.some((lookup) => lookup instanceof Promise))
        return decide(lookupsFrom(found as AccountLookup[], keys.length), keyHashes, request, purpose);
      // Read the address now: a client that disconnects meanwhile no longer has one.
      const { address } = request;
      return Promise.all(found).then((lookups) =>
        decide(lookupsFrom(lookups, keys.length), keyHashes, { address }, purpose),
      );
    },
    get accountsAvailable() {
      return isAvailable();
    },
    close: () => usageCounter.close(),
  };
}

/** Without a key, the credential is a certificate. */
function failedAuthFrom({ address }: AddressSource, keys: readonly string[]): FailedAuth {
  return { address, credential: keys.length > 0 ? "key" : "certificate" };
}

/** What a caller may do. */
function callerFrom({ user, plan, rights, keyExpiresAt, keyNames }: Account, keyHashes: readonly string[]) {
  const { id: userId, fingerprint } = user;
  return { userId, fingerprint, plan, rights, keyExpiresAt, keyNames, keyHashes };
}

/** Splits the look-ups of the keys and the certificate, which comes last. */
function lookupsFrom(lookups: readonly AccountLookup[], keys: number): CredentialLookups {
  return { keys: lookups.slice(0, keys), certificate: lookups[keys] };
}

function selectorFrom(credential: string): UserSelector {
  return credential.startsWith(CERTIFICATE_PREFIX)
    ? { certificateSubject: credential.slice(CERTIFICATE_PREFIX.length) }
    : { keyHash: credential };
}

function messageFrom(found: Account | IdentificationFault, keyHashes: readonly string[]): string | undefined {
  if (found === "contradictory") return CONTRADICTION;
  return keyHashes.length === 0 ? UNKNOWN_CERTIFICATE : undefined;
}
