import { existsSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { trialUserPath } from "../accounts/trial-user.ts";
import { type Config, readConfig } from "../config.ts";
import { isLoopback } from "../http/loopback.ts";
import { type RunningService, startService } from "../main.ts";
import { openLog } from "../monitoring.ts";
import { PACKAGE_ROOT } from "../package-root.ts";
import { parseArguments } from "./arguments.ts";
import { type CommandContext, EXIT_CODES } from "./command.ts";
import { runUntilStopped } from "./service-lifecycle.ts";

/** Output of `visage serve --help`. */
export const help = `Usage: visage serve

Serves both APIs and the web pages on one port, over gRPC, gRPC-Web, Connect and plain HTTP, until
it is stopped. Settings are environment variables; docs/settings.md lists them.

It listens on 127.0.0.1, where only this machine reaches it, and the first start there creates a
trial user. VISAGE_HOST=0.0.0.0 serves other machines; then add the first user by "visage users add"
or VISAGE_TRIAL_USER.

SIGTERM stops it gracefully: the health status changes immediately, new requests are accepted for
VISAGE_DRAIN_MS, then the requests in flight are finished. SIGINT (Ctrl-C) skips the wait. A second
signal ends the process immediately. SIGHUP reloads the certificate; if the new one is invalid, the
old one stays in use.
`;

/**
 * V8 flag that lets the heap triple before a full garbage collection. By default V8 runs one for every few megabytes of
 * images, about once a second under load. That saves about 30 MB of memory, but takes a third of the CPU time of the
 * server.
 */
const HEAP_GROWTH = "--heap-growing-percent=200";

const ADD_USER = "Add a user to call it:\n\n  visage users add --name NAME\n";

/** Starts the service, prints its address and stops it on a signal. */
export async function run(args: readonly string[], { env, stdout }: CommandContext): Promise<number> {
  parseArguments(args, {});
  const config = readConfig(env);
  setFlagsFromString(HEAP_GROWTH);
  const log = openLog(config);
  await runUntilStopped({
    start: () => startService(config, log),
    onStarted: (service) => stdout.write(formatStart(service, config, stdout.isTTY ?? false)),
    drainMs: config.drainMs,
    log,
    process,
  });
  // Everything is closed. A trace collector that does not answer would keep the process running.
  process.exit(EXIT_CODES.ok);
}

/** Formats the address of the service and how to call it. */
export function formatStart(
  { host, port, userId }: Pick<RunningService, "host" | "port" | "userId">,
  config: Pick<Config, "tlsCert" | "trialUser" | "dataDir" | "web">,
  isTerminal: boolean,
): string {
  const address = `${config.tlsCert ? "https" : "http"}://${hostnameFrom(host)}:${port}`;
  const scope = isLoopback(host)
    ? "only this machine can reach it; VISAGE_HOST=0.0.0.0 serves others"
    : "other machines can reach it";
  const example = userId === undefined ? ADD_USER : formatExample(userId, address, config, isTerminal);
  return `Visage listens at ${address} (${scope})\n\n${example}\n`;
}

/** The host for a URL on this machine. */
function hostnameFrom(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

/** Formats an example call. The user id is a credential, so it is printed only to a terminal. */
function formatExample(
  userId: string,
  address: string,
  { trialUser, dataDir, web }: Pick<Config, "trialUser" | "dataDir" | "web">,
  isTerminal: boolean,
): string {
  if (isTerminal) {
    // Browsers keep the fragment of a link to themselves, and the page removes it from the address bar.
    const link = `${address}/#user_id=${encodeURIComponent(userId)}`;
    const playground = web ? `Try it in the playground:\n\n  ${link}\n\nOr with curl:\n\n` : "";
    return `${playground}  ${formatCurl(`'Authorization: Bearer ${userId}'`, address)}\n`;
  }
  if (trialUser !== undefined)
    return `The trial user has the id in VISAGE_TRIAL_USER:\n\n  ${formatCurl('"Authorization: Bearer $VISAGE_TRIAL_USER"', address)}\n`;
  const path = trialUserPath(dataDir);
  const quoted = `'${path.replaceAll("'", "'\\''")}'`;
  return `The id of the trial user is stored in ${path}:\n\n  ${formatCurl(`"Authorization: Bearer $(cat ${quoted})"`, address)}\n`;
}

function formatCurl(header: string, address: string): string {
  // A sample of a development dependency, which production installations do not have.
  const sample = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo/sample1.jpg");
  const photo = existsSync(sample) ? sample : "photo.jpg";
  return `curl -H ${header} -F 'image=@${photo}' '${address}/v1/images:analyze?features=FEATURE_ATTRIBUTES'`;
}
