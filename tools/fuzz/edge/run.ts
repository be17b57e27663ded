import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { FRAME, parseFrames } from "./http2-frames.ts";
import { http1Fault, http2Fault } from "./response-faults.ts";
import type { EdgeCase, Step } from "./script.ts";

/** How long a case waits for the server after its last step. */
const FINAL_WAIT_MS = 150;
/** How long the server may take to accept a connection. */
const CONNECT_TIMEOUT_MS = 10_000;

/** A case with a faulty response. */
export interface EdgeFailure {
  readonly failed: EdgeCase;
  readonly fault: string;
}

export interface EdgeRun {
  readonly tried: number;
  /** The cases that were in progress when the run stopped, if it was aborted. */
  readonly inProgress: readonly EdgeCase[];
}

/** Runs cases in parallel until there are no more or the signal aborts. */
export async function runEdgeCases(
  port: number,
  cases: Iterator<EdgeCase>,
  parallel: number,
  onFailure: (failure: EdgeFailure) => void,
  signal?: AbortSignal,
): Promise<EdgeRun> {
  let tried = 0;
  const running = new Set<EdgeCase>();
  const inProgress: EdgeCase[] = [];
  signal?.addEventListener("abort", () => inProgress.push(...running), { once: true });
  const runLane = async () => {
    for (let next = cases.next(); !next.done && !signal?.aborted; next = cases.next()) {
      running.add(next.value);
      const fault = await edgeFault(port, next.value);
      running.delete(next.value);
      if (signal?.aborted) return;
      tried++;
      if (fault) onFailure({ failed: next.value, fault });
    }
  };
  await Promise.all(Array.from({ length: parallel }, runLane));
  return { tried, inProgress };
}

/** Runs one case on its own connection. Resolves to a description of the fault, if there is one. */
export async function edgeFault(port: number, { steps, protocol }: EdgeCase): Promise<string | undefined> {
  const connection = new Connection(port);
  try {
    if (!(await connection.open())) return "connection not accepted";
    for (const step of steps) {
      if (connection.isClosed) break;
      await connection.play(step, protocol);
    }
    const last = steps.at(-1);
    if (last !== "reset" && last !== "close") await connection.closedWithin(FINAL_WAIT_MS);
  } finally {
    connection.destroy();
  }
  return protocol === "http1" ? http1Fault(connection.received) : http2Fault(connection.received);
}

/** A client connection over TCP that records the bytes it receives. */
class Connection {
  readonly #socket: Socket;
  readonly #chunks: Buffer[] = [];
  readonly #closed: Promise<void>;
  #notify: (() => void) | undefined;
  isClosed = false;

  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    this.#socket.on("data", (chunk) => {
      this.#chunks.push(chunk);
      this.#notify?.();
    });
    // The server may reject a case by a reset.
    this.#socket.on("error", () => {});
    this.#socket.on("end", () => this.#socket.end());
    this.#closed = new Promise((resolve) => {
      this.#socket.on("close", () => {
        this.isClosed = true;
        this.#notify?.();
        resolve();
      });
    });
  }

  get received(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  async open(): Promise<boolean> {
    let isOpen = false;
    this.#socket.once("connect", () => {
      isOpen = true;
    });
    const opened = once(this.#socket, "connect").catch(() => {});
    const waiting = new AbortController();
    const timeout = sleep(CONNECT_TIMEOUT_MS, undefined, waiting).catch(() => {});
    await Promise.race([opened, this.#closed, timeout]);
    waiting.abort();
    // If this process was paused, the timer may fire first although the connection is open.
    await sleep(0);
    return isOpen;
  }

  async play(step: Step, protocol: EdgeCase["protocol"]): Promise<void> {
    if (step === "reset") this.#socket.resetAndDestroy();
    else if (step === "close") this.#socket.destroy();
    else if (step === "halfClose") this.#socket.end();
    else if ("waitMs" in step) await sleep(step.waitMs);
    else if ("awaitResponseMs" in step) await this.#responseWithin(step.awaitResponseMs, protocol);
    else if (this.#socket.writable) this.#socket.write(step.write);
  }

  async closedWithin(ms: number): Promise<void> {
    if (this.isClosed) return;
    const waiting = new AbortController();
    await Promise.race([this.#closed, sleep(ms, undefined, waiting).catch(() => {})]);
    waiting.abort();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  async #responseWithin(ms: number, protocol: EdgeCase["protocol"]): Promise<void> {
    const deadline = performance.now() + ms;
    while (!this.isClosed && !this.#hasResponse(protocol) && performance.now() < deadline) {
      const changed = new Promise<void>((resolve) => {
        this.#notify = resolve;
      });
      await Promise.race([changed, sleep(deadline - performance.now())]);
    }
  }

  #hasResponse(protocol: EdgeCase["protocol"]): boolean {
    if (protocol === "http1") return this.#chunks.length > 0;
    return parseFrames(this.received).some(({ type }) => type === FRAME.headers);
  }
}
