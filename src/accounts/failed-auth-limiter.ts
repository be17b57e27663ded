import ipaddr from "ipaddr.js";
import { type Rate, TokenBuckets } from "./token-buckets.ts";

/** Default of allowed failures per address. Many users may share an address, yet guessing ids at this rate is hopeless. */
const FAILURE_RATE = { perSecond: 2, burst: 50 };

/** Groups of 16 bits in an IPv6 /64 network. Its owner can choose the rest of the address freely. */
const IPV6_NETWORK_GROUPS = 4;

/** Limits failed authentications per client address (IPv6: per /64 network), so that user ids cannot be guessed. */
export class FailedAuthLimiter {
  readonly #buckets = new TokenBuckets();
  readonly #rate: Rate;

  constructor(rate: Rate = FAILURE_RATE) {
    this.#rate = rate;
  }

  /** Seconds until the address may try again; undefined if it may now. */
  retryAfterSeconds(address: string): number | undefined {
    return this.#buckets.peek(networkFromAddress(address), this.#rate, performance.now())?.nextTokenSeconds;
  }

  /** Records a failure. Returns the seconds to wait if the limit was already reached. */
  recordFailure(address: string): number | undefined {
    return this.#buckets.take(networkFromAddress(address), this.#rate, performance.now())?.nextTokenSeconds;
  }
}

/** The network that an address counts for: an IPv4 address, or an IPv6 /64. Other text is returned unchanged. */
export function networkFromAddress(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6
    ? parsed.parts.slice(0, IPV6_NETWORK_GROUPS).join(":")
    : parsed.toString();
}
