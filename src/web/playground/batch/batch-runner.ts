import { RequestError } from "../../site/request-error.ts";
import type { Analysis } from "../responses.ts";
import type { BatchItem, ItemState } from "./batch-item.ts";
import { reactionTo } from "./failure-policy.ts";

/** What a runner needs and reports. */
export interface RunnerOptions {
  /** Analyses one photo. Throws RequestError if the service failed; other errors are about the photo. */
  analyze(item: BatchItem, signal: AbortSignal): Promise<Analysis>;
  /** A photo has changed its state. */
  onItem(item: BatchItem): void;
  /** The runner started, stopped, waits or has finished. */
  onStatus(status: RunnerStatus): void;
  /** One of the callbacks has thrown. */
  onDefect(error: unknown): void;
}

/** What the runner does. */
export type RunnerStatus =
  | { readonly name: "running" }
  /** The service asked to send less; the time is that of `Date.now()`. */
  | { readonly name: "delayed"; readonly untilMs: number; readonly reason: string }
  /** Stopped by the user, or because no photo can succeed now. */
  | { readonly name: "stopped"; readonly reason?: RequestError }
  | { readonly name: "finished" };

/** How many photos are in flight. More would only queue in the service. */
const IN_FLIGHT = 3;

/** Creates what runs a batch, a few photos at a time and in order. Items may be added to the list. */
export function createBatchRunner(items: readonly BatchItem[], options: RunnerOptions) {
  const attempts = new Map<BatchItem, number>();
  let controller: AbortController | undefined;
  let status: RunnerStatus = { name: "stopped" };
  let delayedUntilMs = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const setStatus = (next: RunnerStatus) => {
    status = next;
    options.onStatus(next);
  };
  const setState = (item: BatchItem, state: ItemState) => {
    item.state = state;
    options.onItem(item);
  };
  const stop = (reason?: RequestError) => {
    if (!controller) return;
    clearTimeout(timer);
    controller.abort();
    controller = undefined;
    for (const item of items) if (item.state.name === "running") setState(item, { name: "waiting" });
    setStatus({ name: "stopped", ...(reason && { reason }) });
  };
  const delay = (delayMs: number, reason: string) => {
    delayedUntilMs = Math.max(delayedUntilMs, Date.now() + delayMs);
    clearTimeout(timer);
    timer = setTimeout(() => {
      // Timers may fire a little early.
      delayedUntilMs = 0;
      fill();
    }, delayedUntilMs - Date.now());
    setStatus({ name: "delayed", untilMs: delayedUntilMs, reason });
  };
  const onError = (item: BatchItem, error: unknown) => {
    if (!(error instanceof RequestError))
      return setState(item, { name: "failed", error: { message: textOf(error), isRetryable: false } });
    const attempt = (attempts.get(item) ?? 0) + 1;
    attempts.set(item, attempt);
    const reaction = reactionTo(error, attempt);
    if (reaction.name === "fail") {
      const { code, reason, isRetryable } = error.facts;
      return setState(item, { name: "failed", error: { message: error.message, code, reason, isRetryable } });
    }
    setState(item, { name: "waiting" });
    if (reaction.name === "stop") stop(error);
    else delay(reaction.delayMs, error.message);
  };
  const work = async (item: BatchItem, { signal }: AbortController) => {
    setState(item, { name: "running" });
    try {
      const analysis = await options.analyze(item, signal);
      if (!signal.aborted) setState(item, { name: "done", analysis });
    } catch (error) {
      if (!signal.aborted) onError(item, error);
    }
    if (!signal.aborted) fill();
  };
  function fill(): void {
    if (!controller || Date.now() < delayedUntilMs) return;
    if (status.name === "delayed") setStatus({ name: "running" });
    let running = items.filter(({ state }) => state.name === "running").length;
    for (const item of items) {
      if (running >= IN_FLIGHT) return;
      if (item.state.name !== "waiting") continue;
      running++;
      work(item, controller).catch(options.onDefect);
    }
    if (running > 0) return;
    controller = undefined;
    setStatus({ name: "finished" });
  }
  return {
    get status() {
      return status;
    },
    /** Starts, or continues with the photos that wait. */
    start() {
      if (!controller) {
        controller = new AbortController();
        delayedUntilMs = 0;
        attempts.clear();
        setStatus({ name: "running" });
      }
      fill();
    },
    /** Cancels the photos in flight, which then wait again. */
    stop: () => stop(),
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
