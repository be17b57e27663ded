import ipaddr from "ipaddr.js";
import { TokenBuckets } from "./token-buckets.ts";

/** Failed attempts of one address: many may be behind it, and nobody guesses an id at this rate. */
const FAILURES = { perSecond: 2, burst: 50 };

/** An IPv6 network of this many bits has one owner, who can change the rest of the address at will. */
const IPV6_NETWORK_GROUPS = 4;

/** Counts failed attempts to be admitted by address, IPv6 by /64, so that ids cannot be tried out. */
export class Strangers {
  readonly #failures = new TokenBuckets();

  /** Seconds until an address may fail again, or undefined when it may. */
  waitOf(address: string): number | undefined {
    return this.#failures.peek(networkOf(address), FAILURES, performance.now())?.nextSeconds;
  }

  /** Notes a failure, and gives the seconds to wait where there were too many before. */
  fail(address: string): number | undefined {
    return this.#failures.take(networkOf(address), FAILURES, performance.now())?.nextSeconds;
  }
}

function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6
    ? parsed.parts.slice(0, IPV6_NETWORK_GROUPS).join(":")
    : parsed.toString();
}
