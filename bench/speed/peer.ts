import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { nextMessage } from "../child.ts";
import { freePort } from "../load/service-process.ts";

/** The peer as a server: face-api on tfjs' WebAssembly backend, one process a core. */
export interface Peer {
  readonly port: number;
  close(): void;
}

/** Starts the peer and waits until every process has loaded its networks and run them on the photo. */
export async function startPeer(photo: string): Promise<Peer> {
  const port = await freePort();
  const args = [String(port), String(availableParallelism()), photo];
  const child = fork(new URL("./peer-server.js", import.meta.url), args, {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await nextMessage(child, "the peer");
  return { port, close: () => child.disconnect() };
}
