import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";

/** Two users without limits of rate or quota; every service started here has the first. */
export const USER = "user-of-the-bench";
export const SECOND_USER = "second-user-of-the-bench";

const CLI = join(PACKAGE_ROOT, "dist/src/cli/main.js");
const STOP_WITHIN_MS = 10_000;

/** Linux tells processor time in hundredths of a second. */
const MS_PER_TICK = 10;

/** The service as an operator runs it: a process of its own, with its workers and an empty data folder. */
export class ServiceProcess {
  readonly port: number;
  /** From its start until it was ready. */
  readonly startMs: number;
  /** Its exit code when it has ended, or null where a signal ended it. */
  readonly exitCode: Promise<number | null>;
  readonly #process: ChildProcess;
  readonly #dataDir: string;
  readonly #leave = () => {
    this.#process.kill("SIGKILL");
    rmSync(this.#dataDir, { recursive: true, force: true });
  };

  constructor(child: ChildProcess, port: number, startMs: number, dataDir: string) {
    this.#process = child;
    this.port = port;
    this.startMs = startMs;
    this.exitCode = once(child, "exit").then(([code]) => code as number | null);
    this.#dataDir = dataDir;
    process.once("exit", this.#leave);
  }

  get pid(): number {
    return this.#process.pid!;
  }

  get isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Process ids of the workers; none where the system does not tell (/proc). */
  get workers(): number[] {
    const children = `/proc/${this.pid}/task/${this.pid}/children`;
    return existsSync(children) ? readFileSync(children, "utf8").trim().split(" ").map(Number) : [];
  }

  /** Memory of the service and its workers in bytes: what they have now, or the most each ever had. */
  memoryBytes(kind: "VmRSS" | "VmHWM"): number {
    const kilobytes = [this.pid, ...this.workers].map((pid) => {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      return Number(new RegExp(`^${kind}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]);
    });
    return 1024 * kilobytes.reduce((sum, one) => sum + one, 0);
  }

  /** What the server and all its workers have taken of processors so far, in milliseconds, on Linux alone. */
  processorMs(): { readonly server: number; readonly workers: number } {
    const [server = 0, ...workers] = [this.pid, ...this.workers].map((pid) => {
      // After the name, which may have anything in it, user and system time are the 12th and 13th value.
      const values = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/.*\) /s, "").split(" ");
      return (Number(values[11]) + Number(values[12])) * MS_PER_TICK;
    });
    return { server, workers: workers.reduce((sum, one) => sum + one, 0) };
  }

  /** Adds the second user. */
  async addSecondUser(): Promise<void> {
    const args = ["users", "add", "--name", "second", "--id", SECOND_USER, "--plan", "unlimited"];
    await promisify(execFile)(process.execPath, [CLI, ...args], { env: { VISAGE_DATA_DIR: this.#dataDir } });
  }

  /** Ends it, unless told otherwise without the moment that SIGTERM leaves for balancers to notice. */
  async stop(signal: NodeJS.Signals = "SIGINT"): Promise<void> {
    if (this.isAlive) {
      this.#process.kill(signal);
      const stuck = setTimeout(() => this.#process.kill("SIGKILL"), STOP_WITHIN_MS);
      await this.exitCode;
      clearTimeout(stuck);
    }
    process.off("exit", this.#leave);
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}

/**
 * Starts the compiled service, or that of another checkout, on a free port of this machine. Throws where it ends before
 * it listens.
 */
export async function startServiceProcess(
  settings: Readonly<Record<string, string>> = {},
  cli = CLI,
): Promise<ServiceProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), "visage-bench-data-"));
  const start = performance.now();
  const child = spawn(process.execPath, [cli, "serve"], {
    // In a process group of its own: Ctrl-C is for this process to handle.
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
  let printed = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    printed += chunk;
    const port = /listens at http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1];
    if (!port) continue;
    child.stdout.resume();
    return new ServiceProcess(child, Number(port), performance.now() - start, dataDir);
  }
  rmSync(dataDir, { recursive: true, force: true });
  throw new Error("The service ended before it listened.");
}
