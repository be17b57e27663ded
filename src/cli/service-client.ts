import { createVisageClient, type VisageClient, VisageError } from "../client/visage-client.ts";
import { type Config, readConfig } from "../config.ts";
import { type CommandContext, UsageError } from "./command.ts";
import { findServer, readCertificates, type ServerValues } from "./server-options.ts";
import { isAccountError } from "./stream-error.ts";

/** Help text on the options of every command that calls a service. */
export const SERVER_HELP = `  --server URL   the service; default: VISAGE_URL, else http://localhost:8080, or the port of
                 VISAGE_PORT
  --key KEY      key for the service; VISAGE_KEY is safer, because other users of this machine can
                 see arguments in the list of processes
  --ca FILE      PEM file of the authorities to trust, for https

  VISAGE_URL     URL of the service
  VISAGE_KEY     key for the service
`;

/** Calls in flight. */
export const MAX_IN_FLIGHT = 32;

/** Options of the calls of a command. */
export interface CallSettings {
  /** Ends the command. Commands that a user may kill at any time have none. */
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly retries?: number;
}

/** Limits of a long run: a service that restarts may be unreachable for about half a minute. */
export const LONG_RUN_LIMITS = { timeoutMs: 120_000, retries: 30 } as const;

/** Errors besides those of the account that every photo would have: another attempt is needless. */
const LASTING_ERRORS: readonly string[] = [
  ...[
    "UNREACHABLE",
    "CANCELLED",
    "DRAINING",
    "ACCOUNTS_UNAVAILABLE",
    "GALLERIES_UNAVAILABLE",
    "AUDIT_UNAVAILABLE",
  ],
  ...["GALLERY_NOT_FOUND", "MODEL_MISMATCH", "TOO_MANY_FACES", "GALLERY_TOO_LARGE", "NO_SUCH_PATH"],
];

/** Whether the error of one photo ends the run, because the other photos would have it, too. */
export function isLastingError(error: unknown): error is VisageError {
  return error instanceof VisageError && (isAccountError(error) || LASTING_ERRORS.includes(error.reason));
}

/**
 * Runs work with a client of the service that the options name, the local one by default. Throws UsageError without a
 * key, and the reason of the signal if it is aborted. An error without a response names the address.
 */
export async function withClient<T>(
  { env }: CommandContext,
  values: ServerValues,
  { signal, ...limits }: CallSettings,
  work: (client: VisageClient) => Promise<T>,
): Promise<T> {
  const config = readConfig(env);
  const server = values.server ?? config.url ?? localAddress(config);
  const { address, key: apiKey, caFile } = findServer({ ...values, server }, config)!;
  if (apiKey === undefined) throw new UsageError("Option '--key' or VISAGE_KEY is required");
  const ca = await readCertificates(caFile);
  const client = createVisageClient({ address, apiKey, ca, maxInFlight: MAX_IN_FLIGHT, ...limits });
  try {
    return await work(client);
  } catch (error) {
    signal?.throwIfAborted();
    throw isUnanswered(error) ? new Error(`${address}: ${error.message}`, { cause: error }) : error;
  } finally {
    client.close();
  }
}

/** The address of a service on this machine with the same settings. */
function localAddress({ tlsCert, port }: Config): string {
  return `${tlsCert === undefined ? "http" : "https"}://localhost:${port}`;
}

function isUnanswered(error: unknown): error is VisageError {
  return error instanceof VisageError && error.code === undefined;
}
