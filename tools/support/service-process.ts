import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { PACKAGE_ROOT } from "../../src/package-root.ts";

/** Two users without rate limit or quota. Every service started here has the first one. */
export const USER = "user-of-the-bench";
export const SECOND_USER = "second-user-of-the-bench";

const STOP_TIMEOUT_MS = 10_000;

/** Linux reports CPU time in ticks of 1/100 s. */
const MS_PER_TICK = 10;

/** A value of the server process and one of each worker. */
export interface PerProcess {
  readonly server: number;
  readonly workers: readonly number[];
}

/** The service as an operator runs it: in its own process, with its workers and an empty data folder. */
export class ServiceProcess {
  readonly port: number;
  /** Milliseconds from the start of the process until it accepted requests. */
  readonly startMs: number;
  /** Resolves to the exit code when the process has ended, or to null if a signal ended it. */
  readonly exitCode: Promise<number | null>;
  readonly #process: ChildProcess;
  readonly #dataDir: string;
  readonly #cleanUp = () => {
    this.#process.kill("SIGKILL");
    rmSync(this.#dataDir, { recursive: true, force: true });
  };

  constructor(child: ChildProcess, port: number, startMs: number, dataDir: string) {
    this.#process = child;
    this.port = port;
    this.startMs = startMs;
    this.exitCode = once(child, "exit").then(([code]) => code as number | null);
    this.#dataDir = dataDir;
    process.once("exit", this.#cleanUp);
  }

  get pid(): number {
    return this.#process.pid!;
  }

  get isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Process ids of the workers; empty on systems without /proc. */
  get workers(): number[] {
    const children = `/proc/${this.pid}/task/${this.pid}/children`;
    return existsSync(children) ? readFileSync(children, "utf8").split(" ").filter(Boolean).map(Number) : [];
  }

  /** Memory of the server and all its workers in bytes: current (VmRSS) or peak (VmHWM). Linux only. */
  memoryBytes(kind: "VmRSS" | "VmHWM"): number {
    const { server, workers } = this.memoryByProcess(kind);
    return server + sum(workers);
  }

  /** Memory of each process in bytes: current (VmRSS) or peak (VmHWM). Linux only. */
  memoryByProcess(kind: "VmRSS" | "VmHWM"): PerProcess {
    const [server = 0, ...workers] = [this.pid, ...this.workers].map((pid) => {
      const kilobytes = new RegExp(`^${kind}:\\s+(\\d+) kB$`, "m").exec(readProc(pid, "status"))?.[1];
      return 1024 * Number(kilobytes ?? 0);
    });
    return { server, workers };
  }

  /** CPU time of the server and of all its workers so far, in milliseconds. Linux only. */
  cpuMs(): { readonly server: number; readonly workers: number } {
    const [server = 0, ...workers] = [this.pid, ...this.workers].map((pid) => {
      // The command name in parentheses may contain spaces. Behind it, utime and stime are the 12th and 13th field.
      const fields = readProc(pid, "stat").replace(/.*\) /s, "").split(" ");
      return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * MS_PER_TICK;
    });
    return { server, workers: sum(workers) };
  }

  async addSecondUser(): Promise<void> {
    const args = ["users", "add", "--name", "second", "--key", SECOND_USER, "--plan", "unlimited"];
    const env = { VISAGE_DATA_DIR: this.#dataDir };
    await promisify(execFile)(process.execPath, [findCli(PACKAGE_ROOT), ...args], { env });
  }

  /**
   * Stops the process and deletes its data. The default SIGINT skips the pause in which SIGTERM lets load balancers
   * notice. A process that does not end in time is killed.
   */
  async stop(signal: NodeJS.Signals = "SIGINT"): Promise<void> {
    if (this.isAlive) {
      this.#process.kill(signal);
      const killTimer = setTimeout(() => this.#process.kill("SIGKILL"), STOP_TIMEOUT_MS);
      await this.exitCode;
      clearTimeout(killTimer);
    }
    process.off("exit", this.#cleanUp);
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}

/**
 * Starts the built service of this checkout, or of another one, on a free port of this machine. Throws if the process
 * ends before it listens.
 */
export async function startServiceProcess(
  settings: Readonly<Record<string, string>> = {},
  checkoutDir = PACKAGE_ROOT,
): Promise<ServiceProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), "visage-bench-data-"));
  const start = performance.now();
  const child = spawn(process.execPath, [findCli(checkoutDir), "serve"], {
    // In its own process group, because this process handles Ctrl-C.
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      VISAGE_HOST: "127.0.0.1",
      VISAGE_PORT: "0",
      VISAGE_DATA_DIR: dataDir,
      VISAGE_TRIAL_USER: USER,
      VISAGE_LOG_LEVEL: "error",
      VISAGE_METRICS_PORT: "off",
      ...settings,
    },
  });
  const port = await readPort(child.stdout, /http:\/\/(?:127\.0\.0\.1|localhost):(\d+)\s/);
  if (port !== undefined) return new ServiceProcess(child, port, performance.now() - start, dataDir);
  rmSync(dataDir, { recursive: true, force: true });
  throw new Error("The service ended before it listened.");
}

/** Reads from the output of a service at which port it listens. The rest of the output, its audit trail, is discarded. */
export async function readPort(stdout: Readable, pattern: RegExp): Promise<number | undefined> {
  let printed = "";
  let port: string | undefined;
  for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
    printed += chunk;
    port = pattern.exec(printed)?.[1];
    if (port !== undefined) break;
  }
  // Not within the loop, whose end pauses the stream.
  stdout.resume();
  return port === undefined ? undefined : Number(port);
}

/** The path of the `visage` command that a built checkout declares in its package.json. Throws if it is not built. */
export function findCli(checkoutDir: string): string {
  const manifest = join(checkoutDir, "package.json");
  const { bin = {} } = existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")) : {};
  const path = join(checkoutDir, bin.visage ?? "no-such-file");
  if (!existsSync(path)) throw new Error(`${checkoutDir} is not a built checkout of Visage.`);
  return path;
}

/** One file of a process in /proc; empty if the process has just ended. */
function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
