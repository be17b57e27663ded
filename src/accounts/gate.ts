import { AccountCache, type Found } from "./account-cache.ts";
import { type Account, type AccountStore, type Plan, SUCCESS_OUTCOME } from "./account-store.ts";
import { MonthClock } from "./month.ts";
import { MonthMeters } from "./month-meter.ts";
import { Strangers } from "./strangers.ts";
import { TokenBuckets } from "./token-buckets.ts";
import { UsageCounter } from "./usage-counter.ts";
import { fingerprintOf, hashOf } from "./user-id.ts";

/** Who asks to be admitted, and from where. */
export interface GateRequest {
  readonly userId: string | undefined;
  /** Not read of one whose account is known and good. */
  readonly address: string;
}

/** How much is allowed, how much of it is left, and when it is whole again. */
export interface Limits {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** One who was admitted. */
export interface Caller {
  readonly fingerprint: string;
  readonly maxImageBytes: number | undefined;
  /** Those of the month's quota, where the plan has one. */
  readonly limits: Limits | undefined;
  /** Must be called when the request is over; a second call does nothing. The outcome is `ok` or a reason. */
  finish(operation: string, outcome: string): void;
}

/** Why one was not admitted. One who is disabled is told the same as one who is unknown. */
export type RefusalKind =
  | "noUserId"
  | "unknownUser"
  | "noSubscription"
  | "quotaSpent"
  | "tooManyRequests"
  | "accountsUnavailable";

/** One who was not admitted. */
export interface Refusal {
  readonly admitted: false;
  readonly kind: RefusalKind;
  /** A whole number above 0, where it helps to come again. */
  readonly retryAfterSeconds: number | undefined;
  /** Those that are spent: of the month, or of the bucket that holds the rate. */
  readonly limits: Limits | undefined;
}

export type Admission = { readonly admitted: true; readonly caller: Caller } | Refusal;

/** Decides who may use the service, and counts what they do. */
export interface Gate {
  /** Answers at once for one who came in the last seconds, else when the account has been read. Never rejects. */
  admit(request: GateRequest): Admission | Promise<Admission>;
  /** Whether the store works: the last read of an account and the last write of usage succeeded. */
  readonly hasAccounts: boolean;
  /** Writes the last counts. Call it when every caller has finished; the store stays open. */
  close(): Promise<void>;
}

/** What a gate is made of. */
export interface GateOptions {
  readonly store: Pick<AccountStore, "findAccount" | "addUsage">;
  /** How long known users go on while the store is away, from the last time it was asked about them. */
  readonly graceMs: number;
  /** Hears once of each time that accounts cannot be read or usage cannot be written, and of usage that is lost. */
  readonly onTrouble: (error: unknown) => void;
}

/** When to come again where it is not known how long something lasts. */
const SOON_SECONDS = 1;

/**
 * A gate in front of the service. The month's quota is shared by all gates on one store, and exact where there
 * is only one; several can together exceed it by what they serve in the few seconds until they hear of each
 * other. The rate is that of one gate.
 */
export function createGate({ store, graceMs, onTrouble }: GateOptions): Gate {
  const usage = new UsageCounter(store, onTrouble);
  const clock = new MonthClock();
  const meters = new MonthMeters();
  const rates = new TokenBuckets();
  const strangers = new Strangers();
  const accounts = new AccountCache({ read: readAccount, graceMs, onTrouble });

  async function readAccount(idHash: string): Promise<Account | undefined> {
    const month = clock.now().name;
    const account = await store.findAccount(idHash, month);
    if (!account) meters.forget(idHash);
    else if (month === clock.now().name)
      meters.of(idHash, month).learn(account.usedThisMonth, usage.unsentSuccesses(idHash, month));
    return account;
  }

  function judge(found: Found, request: Pick<GateRequest, "address">): Admission {
    if (found === "unavailable") return refusalOf("accountsUnavailable", SOON_SECONDS);
    if (found === "unknown" || !found.user.enabled) return turnAway("unknownUser", request);
    const { user, plan } = found;
    const nowMs = Date.now();
    if (nowMs < user.startsAt.getTime() || (user.endsAt && nowMs >= user.endsAt.getTime()))
      return refusalOf("noSubscription");
    return excessOfRate(user.idHash, plan) ?? admitForMonth(user.idHash, plan);
  }

  function turnAway(kind: "noUserId" | "unknownUser", { address }: Pick<GateRequest, "address">): Refusal {
    const waitSeconds = strangers.fail(address);
    return waitSeconds === undefined ? refusalOf(kind) : refusalOf("tooManyRequests", waitSeconds);
  }

  function excessOfRate(idHash: string, { requestsPerSecond, burst }: Plan): Refusal | undefined {
    if (requestsPerSecond === undefined) return undefined;
    const shortage = rates.take(idHash, { perSecond: requestsPerSecond, burst }, performance.now());
    return (
      shortage &&
      refusalOf("tooManyRequests", shortage.nextSeconds, {
        limit: burst,
        remaining: 0,
        resetSeconds: Math.ceil(shortage.fullSeconds),
      })
    );
  }

  function admitForMonth(idHash: string, plan: Plan): Admission {
    const { name: month, secondsLeft } = clock.now();
    const meter = meters.of(idHash, month);
    const limit = plan.requestsPerMonth;
    const left = limit === undefined ? Number.POSITIVE_INFINITY : limit - meter.used - meter.underWay;
    const limitsWith = (remaining: number): Limits | undefined =>
      limit === undefined ? undefined : { limit, remaining, resetSeconds: secondsLeft };
    if (left < 1) {
      // Requests under way that fail give back what they hold.
      const retrySeconds = left + meter.underWay < 1 ? secondsLeft : SOON_SECONDS;
      return refusalOf("quotaSpent", retrySeconds, limitsWith(0));
    }

    meter.begin();
    let isFinished = false;
    const caller: Caller = {
      fingerprint: fingerprintOf(idHash),
      maxImageBytes: plan.maxImageBytes,
      limits: limitsWith(left - 1),
      finish: (operation, outcome) => {
        if (isFinished) return;
        isFinished = true;
        meter.end(outcome === SUCCESS_OUTCOME);
        usage.add(idHash, month, operation, outcome);
      },
    };
    return { admitted: true, caller };
  }

  return {
    admit: (request) => {
      if (!request.userId) return turnAway("noUserId", request);
      const idHash = hashOf(request.userId);
      const waitSeconds = accounts.isKnown(idHash) ? undefined : strangers.waitOf(request.address);
      if (waitSeconds !== undefined) return refusalOf("tooManyRequests", waitSeconds);
      const found = accounts.find(idHash);
      if (!(found instanceof Promise)) return judge(found, request);
      // Read now, as one who has left by then has none.
      const { address } = request;
      return found.then((late) => judge(late, { address }));
    },
    get hasAccounts() {
      return !accounts.isAway && !usage.isFailing;
    },
    close: () => usage.close(),
  };
}

function refusalOf(kind: RefusalKind, retrySeconds?: number, limits?: Limits): Refusal {
  const retryAfterSeconds = retrySeconds && Math.max(1, Math.ceil(retrySeconds));
  return { admitted: false, kind, retryAfterSeconds, limits };
}
