import { execFile, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { freePort } from "../../tools/support/free-port.ts";
import { nextMessage } from "./next-message.ts";

/** A running peer: face-api on the WebAssembly backend of tfjs, one process per CPU core. */
export interface Peer {
  readonly port: number;
  close(): void;
}

/** The peer's packages are large and used only here, so they are installed when the peer is first measured. */
const PACKAGES = join(PACKAGE_ROOT, "bench/peer");

/** Starts the peer. Waits until every process has loaded its networks and run them on the photo. */
export async function startPeer(photo: string): Promise<Peer> {
  await installPackages();
  const port = await freePort();
  const args = [String(port), String(availableParallelism()), photo, join(PACKAGES, "package.json")];
  const child = fork(new URL("./peer-server.js", import.meta.url), args, {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await nextMessage(child, "The peer");
  return { port, close: () => child.disconnect() };
}

async function installPackages(): Promise<void> {
  if (existsSync(join(PACKAGES, "node_modules/.package-lock.json"))) return;
  process.stderr.write("Installing the peer\n");
  await promisify(execFile)("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: PACKAGES });
}
