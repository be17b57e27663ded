import type { Log, LogFields } from "./log.ts";
import type { RequestObserver, RequestSummary } from "./request-summary.ts";

/** Limits of the lines of failed authentications in a period, so that an attack cannot flood the log. */
const FAILURE_LIMITS = { periodMs: 10_000, lines: 100, linesPerAddress: 10 };

/**
 * Creates an observer that logs every request. Beyond a limit, failed authentications are only counted, and one line per
 * period has their number.
 */
export function createRequestLog(log: Pick<Log, "info" | "warn">): RequestObserver {
  const failures = new FailureLines((lines) =>
    log.warn({ event: "failed authentications not logged", lines }),
  );
  return (summary) => {
    if (!summary.failedAuth || failures.admit(summary.failedAuth.address))
      log.info(logFieldsFromSummary(summary));
  };
}

/** Limits lines in total and per address. */
class FailureLines {
  readonly #onSuppressed: (lines: number) => void;
  /** Lines of the period by address. */
  readonly #lines = new Map<string, number>();
  #total = 0;
  #suppressed = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `onSuppressed` is called at the end of a period with the number of lines that were not admitted. */
  constructor(onSuppressed: (lines: number) => void) {
    this.#onSuppressed = onSuppressed;
  }

  /** Whether a line may be written. */
  admit(address: string): boolean {
    this.#timer ??= setTimeout(() => this.#endPeriod(), FAILURE_LIMITS.periodMs).unref();
    const lines = this.#lines.get(address) ?? 0;
    if (this.#total >= FAILURE_LIMITS.lines || lines >= FAILURE_LIMITS.linesPerAddress) {
      this.#suppressed++;
      return false;
    }
    this.#total++;
    this.#lines.set(address, lines + 1);
    return true;
  }

  #endPeriod(): void {
    if (this.#suppressed > 0) this.#onSuppressed(this.#suppressed);
    this.#lines.clear();
    this.#total = 0;
    this.#suppressed = 0;
    this.#timer = undefined;
  }
}

/** Returns the log fields of a finished request. */
function logFieldsFromSummary(summary: RequestSummary): LogFields {
  const { requestId, trace, user, failedAuth, operation, protocol, outcome, durationMs, imageBytes, faces } =
    summary;
  // Requests with two images run each stage twice.
  const stagesMs: Record<string, number> = {};
  for (const { stage, milliseconds } of summary.stages)
    stagesMs[stage] = roundToTenth((stagesMs[stage] ?? 0) + milliseconds);
  return {
    requestId,
    trace_id: trace?.traceId,
    user,
    ...(failedAuth && { "client.address": failedAuth.address, credential: failedAuth.credential }),
    operation,
    protocol,
    outcome,
    durationMs: roundToTenth(durationMs),
    stagesMs,
    imageBytes,
    faces,
  };
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}
