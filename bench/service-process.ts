import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "../models/manifest.ts";

/** The user id that a service started here admits. */
export const USER_ID = "user-of-the-bench";

/** The service as an operator runs it: a process of its own, with its workers. */
export class ServiceProcess {
  readonly port: number;
  readonly #process: ChildProcess;

  constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.port = port;
  }

  get isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Process ids of the workers; none where the system does not tell (/proc). */
  get workers(): number[] {
    const { pid } = this.#process;
    const children = `/proc/${pid}/task/${pid}/children`;
    return existsSync(children) ? readFileSync(children, "utf8").trim().split(" ").map(Number) : [];
  }

  /** Memory of the service and its workers in bytes: what they have now, or the most each ever had. */
  memoryBytes(kind: "VmRSS" | "VmHWM"): number {
    const kilobytes = [this.#process.pid!, ...this.workers].map((pid) => {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      return Number(new RegExp(`^${kind}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]);
    });
    return 1024 * kilobytes.reduce((sum, one) => sum + one, 0);
  }

  async stop(): Promise<void> {
    if (!this.isAlive) return;
    this.#process.kill("SIGTERM");
    await once(this.#process, "exit");
  }
}

/** Starts the compiled service on a free port of this machine. Throws where it ends before it listens. */
export async function startServiceProcess(
  settings: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const env = {
    VISAGE_HOST: "127.0.0.1",
    VISAGE_PORT: "0",
    VISAGE_TRIAL_USER: USER_ID,
    VISAGE_LOG_LEVEL: "error",
    ...settings,
  };
  const program = join(PACKAGE_ROOT, "dist/src/cli.js");
  const service = spawn(process.execPath, [program, "serve"], { env, stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  for await (const chunk of service.stdout.iterator({ destroyOnReturn: false })) {
    printed += chunk;
    const port = /listens at http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1];
    if (!port) continue;
    service.stdout.resume();
    return new ServiceProcess(service, Number(port));
  }
  throw new Error("The service ended before it listened.");
}
