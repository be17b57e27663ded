import { execFile, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";
import { nextMessage } from "../../tools/support/child.ts";
import { freePort } from "../../tools/support/free-port.ts";

/** The peer as a server: face-api on tfjs' WebAssembly backend, one process a core. */
export interface Peer {
  readonly port: number;
  close(): void;
}

/** What the peer is made of: heavy, and of use to nobody else, so it is installed when it is first measured. */
const PACKAGES = join(PACKAGE_ROOT, "bench/peer");

/** Starts the peer and waits until every process has loaded its networks and run them on the photo. */
export async function startPeer(photo: string): Promise<Peer> {
  await installPackages();
  const port = await freePort();
  const args = [String(port), String(availableParallelism()), photo, join(PACKAGES, "package.json")];
  const child = fork(new URL("./peer-server.js", import.meta.url), args, {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await nextMessage(child, "the peer");
  return { port, close: () => child.disconnect() };
}

async function installPackages(): Promise<void> {
  if (existsSync(join(PACKAGES, "node_modules/.package-lock.json"))) return;
  process.stderr.write("installing the peer\n");
  await promisify(execFile)("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: PACKAGES });
}
