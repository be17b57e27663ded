import { formatAuditGap } from "./audit-line.ts";
import type { AuditOutput } from "./audit-output.ts";

/** What audited operations do while no line can be written. */
export const AUDIT_FAILURE_POLICIES = ["stop", "continue"] as const;
export type AuditFailurePolicy = (typeof AUDIT_FAILURE_POLICIES)[number];

/** Size limit of the lines that wait, about 20,000. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** Size limit of the lines that are written at once, unless a single line is longer. */
const MAX_BATCH_BYTES = 256 * 1024;
/** How long a write may take before it counts as failed. */
const MAX_WRITE_MS = 5_000;
/** Delay before lines that could not be written are tried again. */
const RETRY_DELAY_MS = 1_000;
/** How long the lines that wait are tried at the end. */
const CLOSE_TIMEOUT_MS = 2_000;

/** The audit trail cannot be written. */
export class AuditError extends Error {
  override readonly name = "AuditError";

  constructor(cause: unknown) {
    super(`The audit trail cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/** Options of an audit trail. */
export interface AuditTrailOptions {
  readonly policy: AuditFailurePolicy;
  /** Called once when lines cannot be written. */
  readonly onFailure?: (cause: unknown) => void;
  /** Called when lines can be written again. */
  readonly onRecovery?: () => void;
  /** Called at the end with the number of lines that could not be written. */
  readonly onLoss?: (lines: number) => void;
}

interface Entry {
  readonly line: string;
  /** Whether the line is written later if it cannot be written now. */
  readonly isKept: boolean;
  /** Called once or several times; only the first call has an effect. */
  readonly settle: (error: AuditError | undefined) => void;
}

/**
 * Appends lines to an audit trail, as many at once as wait. While they cannot be written, it tries again every second
 * and then adds a line with the time of the gap.
 */
export class AuditTrail {
  readonly #output: AuditOutput;
  readonly #options: AuditTrailOptions;
  readonly #closing = new AbortController();
  #waiting: Entry[] = [];
  #waitingBytes = 0;
  /** The entries that are being written. */
  #batch: readonly Entry[] = [];
  #failure: { readonly since: Date; readonly error: AuditError } | undefined;
  /** Kept lines for which there was no room, since the last line about a gap. */
  #lost = 0;
  readonly #lines = { written: 0, lost: 0 };
  #writing: Promise<void> | undefined;

  constructor(output: AuditOutput, options: AuditTrailOptions) {
    this.#output = output;
    this.#options = options;
  }

  /** Rejects if the trail cannot be written for a reason that will not pass, such as a folder that does not exist. */
  async open(): Promise<void> {
    await this.#output.open?.();
  }

  /** Whether the last write has failed, or takes too long. */
  get isFailing(): boolean {
    return this.#failure !== undefined;
  }

  /** Number of lines that were written, and of kept lines for which there was no room. */
  get lines(): { readonly written: number; readonly lost: number } {
    return this.#lines;
  }

  /** Throws AuditError if an operation must not begin now. */
  requireAvailable(): void {
    if (this.#failure && this.#options.policy === "stop") throw this.#failure.error;
  }

  /**
   * Writes a line without which an operation must not go on. Resolves when the line is safe. With the policy `stop`, it
   * rejects with AuditError if the line cannot be written, which is then dropped. Otherwise the line is kept.
   */
  async write(line: string): Promise<void> {
    if (this.#options.policy === "continue") return this.keep(line);
    this.requireAvailable();
    const error = await this.#add(line, false);
    if (error) throw error;
  }

  /** Writes a line of what has happened. Resolves when it is safe, or kept to be written later. Never rejects. */
  async keep(line: string): Promise<void> {
    await this.#add(line, true);
  }

  /** Writes the lines that wait, for a limited time. No line may be written afterwards. */
  async close(): Promise<void> {
    const timer = new AbortController();
    const timeout = pause(CLOSE_TIMEOUT_MS, timer.signal);
    await Promise.race([this.#writing, timeout]);
    this.#closing.abort();
    const lost = this.#lost + [...this.#batch, ...this.#waiting].filter(({ isKept }) => isKept).length;
    if (lost > 0) this.#options.onLoss?.(lost);
    // A file on a server that does not respond cannot be closed.
    await Promise.race([this.#output.close().catch(() => {}), timeout]);
    timer.abort();
  }

  #add(line: string, isKept: boolean): Promise<AuditError | undefined> {
    const bytes = Buffer.byteLength(line);
    const hasRoom = () => this.#waitingBytes + bytes <= MAX_WAITING_BYTES;
    if (!hasRoom() && !this.#failure) this.#fail(new Error("too many lines wait"));
    if (this.#failure && !(isKept && hasRoom())) {
      if (isKept) {
        this.#lost++;
        this.#lines.lost++;
      }
      return Promise.resolve(this.#failure.error);
    }
    return new Promise((settle) => {
      this.#waiting.push({ line, isKept, settle });
      this.#waitingBytes += bytes;
      if (this.#failure) settle(this.#failure.error);
      this.#writing ??= this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    while ((this.#waiting.length > 0 || this.#failure) && !this.#closing.signal.aborted) {
      this.#takeBatch();
      // The line about the gap is the last one, so that it tells how many of those before it are missing.
      const gap = this.#waiting.length === 0 ? this.#failure?.since : undefined;
      await this.#writeBatch(gap);
    }
    this.#writing = undefined;
  }

  async #writeBatch(gap: Date | undefined): Promise<void> {
    const lost = this.#lost;
    const lines = this.#batch.map(({ line }) => line).join("") + (gap ? formatAuditGap(gap, lost) : "");
    const stalled = new Error(`a write takes more than ${MAX_WRITE_MS / 1000} s`);
    const timer = setTimeout(() => this.#fail(stalled), MAX_WRITE_MS);
    try {
      await this.#output.append(lines);
      for (const { settle } of this.#batch) settle(undefined);
      this.#lines.written += this.#batch.length;
      this.#batch = [];
      if (gap) this.#recover(lost);
    } catch (error) {
      this.#fail(error);
      this.#putBack();
      await pause(RETRY_DELAY_MS, this.#closing.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  #takeBatch(): void {
    let bytes = 0;
    const rest = this.#waiting.findIndex(({ line }, i) => {
      bytes += Buffer.byteLength(line);
      return i > 0 && bytes > MAX_BATCH_BYTES;
    });
    this.#batch = this.#waiting.splice(0, rest < 0 ? this.#waiting.length : rest);
    this.#waitingBytes -= sizeOf(this.#batch);
  }

  #putBack(): void {
    const kept = this.#batch.filter(({ isKept }) => isKept);
    this.#waiting.unshift(...kept);
    this.#waitingBytes += sizeOf(kept);
    this.#batch = [];
  }

  /** Fails all callers that wait, and drops the lines that are not kept. */
  #fail(cause: unknown): AuditError {
    if (!this.#failure) {
      this.#failure = { since: new Date(), error: new AuditError(cause) };
      this.#options.onFailure?.(cause);
    }
    const { error } = this.#failure;
    for (const { settle } of [...this.#batch, ...this.#waiting]) settle(error);
    this.#waiting = this.#waiting.filter(({ isKept }) => isKept);
    this.#waitingBytes = sizeOf(this.#waiting);
    return error;
  }

  /** Ends a failure, unless further lines were lost meanwhile. */
  #recover(reported: number): void {
    this.#lost -= reported;
    if (this.#lost > 0) return;
    this.#failure = undefined;
    this.#options.onRecovery?.();
  }
}

/** Waits for a time, or until the signal is aborted. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

function sizeOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { line }) => sum + Buffer.byteLength(line), 0);
}
