import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { freePort } from "../../tools/support/free-port.ts";

/** Writes the example configuration of deploy/ with paths that need neither root nor an installation. */
export function writeNginxConfig(folder: string, change: (config: string) => string): string {
  const config = readFileSync(join(PACKAGE_ROOT, "deploy/nginx.conf"), "utf8");
  const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const folders = kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join("\n");
  const file = join(folder, "nginx.conf");
  const changed = change(config).replace("http {", `http {\n${folders}`);
  writeFileSync(file, `pid ${join(folder, "pid")};\ndaemon off;\n${changed}`);
  return file;
}

/** An nginx process in front of two replicas. */
export interface Nginx {
  readonly httpPort: number;
  readonly grpcPort: number;
  stop(): Promise<void>;
}

/** Starts nginx with the example configuration of deploy/, or a change of it, in front of replicas on these ports. */
export async function startNginx(
  program: string,
  replicas: readonly [number, number],
  change: (config: string) => string = (config) => config,
): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), "visage-nginx-"));
  const [httpPort, grpcPort] = [await freePort(), await freePort()];
  const file = writeNginxConfig(folder, (config) =>
    change(config)
      .replaceAll("127.0.0.1:8080", `127.0.0.1:${replicas[0]}`)
      .replaceAll("127.0.0.1:8081", `127.0.0.1:${replicas[1]}`)
      .replace("listen 80;", `listen 127.0.0.1:${httpPort};`)
      .replace("listen 81 ", `listen 127.0.0.1:${grpcPort} `),
  );
  const child = spawn(program, ["-e", "stderr", "-c", file], { stdio: "ignore" });
  const exited = once(child, "exit");
  while (!(await isListening(httpPort))) await sleep(50);
  return {
    httpPort,
    grpcPort,
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function isListening(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/healthz`).then(
    () => true,
    () => false,
  );
}
