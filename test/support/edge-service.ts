import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generate } from "selfsigned";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { type MetricsSnapshot, readMetrics } from "../../tools/fuzz/edge/metrics.ts";
import { freePort } from "../../tools/support/free-port.ts";
import { readPort, ServiceProcess, USER } from "../../tools/support/service-process.ts";
import { until } from "./until.ts";

const CLI = join(PACKAGE_ROOT, "dist/src/cli/main.js");
const MIB = 1024 * 1024;
/** The TCP state in /proc/net/tcp of a socket whose peer has closed while this side has not. */
const CLOSE_WAIT = "08";

/** Options of an edge service besides its settings. */
export interface EdgeServiceOptions {
  /** The limit on open file descriptors of the service and each worker. */
  readonly maxDescriptors?: number;
  readonly tls?: boolean;
}

/** A service in a process of its own, observed from outside: by its metrics port and by /proc. */
export class EdgeService extends ServiceProcess {
  readonly metricsPort: number;
  readonly dataDir: string;
  readonly isTls: boolean;

  constructor(
    child: ReturnType<typeof spawn>,
    port: number,
    metricsPort: number,
    dataDir: string,
    isTls: boolean,
  ) {
    super(child, port, 0, dataDir);
    this.metricsPort = metricsPort;
    this.dataDir = dataDir;
    this.isTls = isTls;
  }

  metrics(): Promise<MetricsSnapshot> {
    return readMetrics(this.metricsPort);
  }

  async requestsInFlight(): Promise<number> {
    return (await this.metrics()).value("visage_requests_in_flight");
  }

  /** Requests whose work has not ended, although their clients may have left. */
  async requestsRunning(): Promise<number> {
    return (await this.metrics()).value("visage_requests_running");
  }

  /** Waits until no request is in flight. Returns the number of requests that are left after the timeout. */
  waitUntilIdle(timeoutMs: number): Promise<number> {
    return until(
      () => this.requestsInFlight(),
      (count) => count === 0,
      timeoutMs,
    );
  }

  async connections(): Promise<number> {
    return (await this.metrics()).value("visage_connections");
  }

  /** The process ids of the workers. */
  workerPids(): number[] {
    const children = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, "utf8");
    return children.trim().split(" ").map(Number);
  }

  /** Open file descriptors of the serving process. */
  descriptors(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length;
  }

  /** Resident memory of the serving process without its workers, in MiB: current (VmRSS) or peak (VmHWM). */
  residentMib(kind: "VmRSS" | "VmHWM"): number {
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
    return (Number(new RegExp(`^${kind}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024) / MIB;
  }

  /** Connections at the public port that the client has closed and the service has not. */
  closeWaitSockets(): number {
    const port = this.port.toString(16).toUpperCase().padStart(4, "0");
    return ["/proc/net/tcp", "/proc/net/tcp6"]
      .flatMap((file) => readFileSync(file, "utf8").trim().split("\n").slice(1))
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(`:${port}`) && state === CLOSE_WAIT).length;
  }

  /** Sends SIGTERM. Returns the milliseconds until the process ended, or undefined if it is still running. */
  async terminate(withinMs: number): Promise<number | undefined> {
    const start = performance.now();
    process.kill(this.pid, "SIGTERM");
    const isStuck = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(true), withinMs);
      void this.exitCode.then(() => {
        clearTimeout(timer);
        resolve(false);
      });
    });
    return isStuck ? undefined : performance.now() - start;
  }
}

/** Starts the compiled service with one worker on free ports. Throws if it ends before it listens. */
export async function startEdgeService(
  settings: Readonly<Record<string, string>> = {},
  { maxDescriptors, tls = false }: EdgeServiceOptions = {},
): Promise<EdgeService> {
  const dataDir = mkdtempSync(join(tmpdir(), "visage-edge-"));
  const metricsPort = await freePort();
  const command = [process.execPath, CLI, "serve"];
  const [program, ...args] =
    maxDescriptors === undefined
      ? command
      : ["/bin/sh", "-c", `ulimit -n ${maxDescriptors}; exec "$@"`, "sh", ...command];
  const child = spawn(program!, args, {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      VISAGE_HOST: "127.0.0.1",
      VISAGE_PORT: "0",
      VISAGE_METRICS_HOST: "127.0.0.1",
      VISAGE_METRICS_PORT: String(metricsPort),
      VISAGE_DATA_DIR: dataDir,
      VISAGE_TRIAL_USER: USER,
      VISAGE_LOG_LEVEL: "error",
      VISAGE_WORKERS: "1",
      ...(tls ? await writeCertificate(dataDir) : {}),
      ...settings,
    },
  });
  const port = await readPort(child.stdout, /listens at https?:\/\/127\.0\.0\.1:(\d+)/);
  if (port === undefined) throw new Error("The service ended before it listened.");
  return new EdgeService(child, port, metricsPort, dataDir, tls);
}

async function writeCertificate(folder: string): Promise<Record<string, string>> {
  const files = { VISAGE_TLS_CERT: join(folder, "cert.pem"), VISAGE_TLS_KEY: join(folder, "key.pem") };
  const pems = await generate([{ name: "commonName", value: "localhost" }], {
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] }],
  });
  writeFileSync(files.VISAGE_TLS_CERT, pems.cert);
  writeFileSync(files.VISAGE_TLS_KEY, pems.private);
  return files;
}
