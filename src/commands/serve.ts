import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { PACKAGE_ROOT } from "../../models/manifest.ts";
import { readConfig } from "../config.ts";
import { startService } from "../main.ts";
import { createLog } from "../ops/log.ts";

/** What `visage serve --help` prints. */
export const help = `Usage: visage serve

Serves the four operations over gRPC, gRPC-Web, Connect and plain HTTP from one port, until it is
told to stop. Settings are environment variables; the README lists them.

SIGTERM stops it gently: health says so at once, work is taken for a moment longer and then finished.
SIGINT (Ctrl-C) stops it as soon as the work in hand is done, a second signal at once. SIGHUP reads
the certificate again.
`;

/**
 * How far the server's heap may grow before all of it is collected. Left alone, V8 does so for every few megabytes
 * of images that come in, about once a second under load. That would save some 30 MB, and is a third of what the
 * server costs.
 */
const HEAP_GROWTH = "--heap-growing-percent=200";

/** The longest wait for the reader of the log before the process ends. */
const FLUSH_MS = 1000;

/** Starts the service, says how to reach it, and stops it on a signal. */
export async function run(args: readonly string[]): Promise<void> {
  parseArgs({ args, options: {} });
  const config = readConfig();
  setFlagsFromString(HEAP_GROWTH);
  const log = createLog(config.logLevel);
  const service = await startService(config, log);
  // Before anyone is told that it runs, and may want to stop it.
  const stopped = Promise.race([signalled("SIGINT"), signalled("SIGTERM")]);
  process.on("SIGHUP", () => void service.reload());
  const host = service.host === "0.0.0.0" ? "localhost" : service.host;
  const address = `${config.tlsCert ? "https" : "http"}://${host}:${service.port}`;
  process.stdout.write(`Visage listens at ${address}\n\n  ${hintOf(service.userId, address)}\n\n`);
  const isHurried = (await stopped) === "SIGINT";
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  if (!isHurried) await service.drain(config.drainMs);
  await service.close();
  await log.flush(FLUSH_MS);
}

async function signalled(signal: NodeJS.Signals): Promise<NodeJS.Signals> {
  await once(process, signal);
  return signal;
}

/** How to try the service. */
function hintOf(userId: string | undefined, address: string): string {
  if (userId === undefined) return "visage users add --name NAME   makes a user who may call it";
  // Of a package for tests, which an install for production has not.
  const sample = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo/sample1.jpg");
  const photo = existsSync(sample) ? sample : "photo.jpg";
  return `curl -H 'user_id: ${userId}' -F 'image_attr=@${photo}' ${address}/get_image_attr`;
}
