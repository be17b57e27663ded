import { promises as dns } from "node:dns";
import { HostsFile } from "./hosts-file.ts";

/** Returns the addresses of a host name, in the order to try them. Rejects if there are none. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Options of a name resolver. The system's settings are the default. */
export interface NameResolverOptions {
  /** DNS servers, as `address` or `address:port`. */
  readonly servers?: readonly string[] | undefined;
  /** A file in the format of /etc/hosts. */
  readonly hostsPath?: string | undefined;
}

/** For one name, including all retries. */
const LOOKUP_TIMEOUT_MS = 2000;
/** The time before the first retry; later ones take longer. */
const RETRY_MS = 500;
const TRIES = 3;
/** How long to wait for the other address family once there is an address (RFC 8305 calls this the resolution delay). */
const RESOLUTION_DELAY_MS = 200;
const LOOPBACK: readonly string[] = ["127.0.0.1", "::1"];

/**
 * Creates a resolver that looks in /etc/hosts, then asks DNS for IPv4 and IPv6 addresses at the same time. Search
 * domains are not applied. `localhost` and names below it never reach DNS (RFC 6761).
 *
 * It does not use `getaddrinfo`, which cannot be cancelled and occupies one of libuv's few threads until the DNS server
 * responds: a few names whose server is silent would block all other look-ups.
 */
export function createNameResolver({ servers, hostsPath }: NameResolverOptions = {}): Resolve {
  const hosts = new HostsFile(hostsPath);
  return async (name, signal) => {
    signal.throwIfAborted();
    const plainName = name.toLowerCase().replace(/\.$/, "");
    const known = hosts.lookUp(plainName);
    if (known.length > 0) return known;
    if (plainName === "localhost" || plainName.endsWith(".localhost")) return LOOPBACK;
    return queryDns(name, signal, servers);
  };
}

/** Asks DNS for the addresses of a name, IPv4 first. */
async function queryDns(
  name: string,
  signal: AbortSignal,
  servers: readonly string[] | undefined,
): Promise<readonly string[]> {
  // One resolver per look-up, because cancelling ends all queries of a resolver.
  const resolver = new dns.Resolver({ timeout: RETRY_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    cancel();
  }, LOOKUP_TIMEOUT_MS);
  let delay: NodeJS.Timeout | undefined;
  signal.addEventListener("abort", cancel);
  const addresses: string[][] = [[], []];
  const query = async (family: 0 | 1) => {
    addresses[family] = await (family === 0 ? resolver.resolve4(name) : resolver.resolve6(name));
    delay ??= setTimeout(cancel, RESOLUTION_DELAY_MS);
  };
  try {
    const outcomes = await Promise.allSettled([query(0), query(1)]);
    signal.throwIfAborted();
    const found = addresses.flat();
    if (found.length > 0) return found;
    if (isLate) throw new Error(`no DNS answer within ${LOOKUP_TIMEOUT_MS} ms`);
    throw errorFrom(outcomes);
  } finally {
    clearTimeout(timer);
    clearTimeout(delay);
    signal.removeEventListener("abort", cancel);
  }
}

/** Chooses the error to report: ENODATA, which only says that a family has no addresses, comes last. */
function errorFrom(outcomes: readonly PromiseSettledResult<void>[]): Error {
  const errors = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  return errors.find(({ code }) => code !== "ENODATA") ?? errors[0] ?? new Error("no addresses");
}
