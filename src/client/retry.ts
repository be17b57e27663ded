import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { type VisageError, visageErrorFrom } from "./visage-error.ts";

/** How long and how often to try. */
export interface Patience {
  /** For all attempts together. */
  readonly timeoutMs: number;
  /** Attempts after the first. */
  readonly retries: number;
  readonly signal?: AbortSignal | undefined;
}

/** The first wait where the service names none; each further one is twice as long. */
const FIRST_WAIT_MS = 100;
/** Waits grow by up to this part at random, so that callers who were refused together do not return together. */
const JITTER = 0.5;
/** A fault of the service's own. Once may be chance; a request that meets a second is likely what causes it. */
const FAULT = "INTERNAL";

/**
 * Makes a call, and again while it fails in a way that may pass, after the wait that the service asks for; after
 * a fault of the service's own, once more at most. Never waits beyond the deadline: what could only be tried
 * later fails at once. Throws VisageError.
 */
export async function retrying<T>(call: (timeoutMs: number) => Promise<T>, patience: Patience): Promise<T> {
  const deadline = performance.now() + patience.timeoutMs;
  let hadFault = false;
  for (let attempt = 0; ; attempt++) {
    try {
      // The wire has whole milliseconds, and no deadline where there are none.
      return await call(Math.max(1, Math.round(deadline - performance.now())));
    } catch (fault) {
      const error = visageErrorFrom(fault);
      const waitMs = waitAfter(error, attempt);
      const isFault = error.kind === FAULT;
      const isLast = attempt >= patience.retries || performance.now() + waitMs >= deadline;
      if (!error.retryable || isLast || (isFault && hadFault)) throw error;
      hadFault ||= isFault;
      await sleep(waitMs, undefined, { signal: patience.signal }).catch(() => {
        throw visageErrorFrom(new ConnectError("The call was cancelled.", Code.Canceled));
      });
    }
  }
}

function waitAfter({ retryAfterMs }: VisageError, attempt: number): number {
  return Math.max(retryAfterMs, FIRST_WAIT_MS * 2 ** attempt) * (1 + JITTER * Math.random());
}
