import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { networkFromAddress } from "../accounts/failed-auth-limiter.ts";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Address ranges of proxies whose X-Forwarded-For header is trusted. */
export type TrustedProxies = readonly (readonly [Address, prefixBits: number])[];

/** The prefix length of IPv4-mapped IPv6 addresses (::ffff:0:0/96). */
const MAPPED_BITS = 96;

/** Parses comma-separated addresses and CIDR ranges. Throws an Error that describes the expected form. */
export function parseTrustedProxies(text: string): TrustedProxies {
  return text.split(",").map((entry) => {
    const range = rangeFromText(entry.trim());
    if (!range)
      throw new Error(
        `must be addresses or ranges such as 10.0.0.0/8, separated by commas, not "${entry.trim()}"`,
      );
    return range;
  });
}

/**
 * Finds the address of a client. If the socket's peer is a trusted proxy, this is the last address in X-Forwarded-For
 * that is not a trusted proxy; entries before one that is not an address are ignored. IPv4-mapped IPv6 addresses become
 * IPv4. A socket address that cannot be parsed is returned unchanged.
 */
export function clientAddressOf(
  socketAddress: string,
  forwardedFor: string | undefined,
  trusted: TrustedProxies,
): string {
  const hops = forwardedFor?.split(",") ?? [];
  let client = addressFromText(socketAddress);
  let previous = client;
  while (previous) {
    client = previous;
    previous = isTrustedProxy(client, trusted) ? addressFromHop(hops.pop()?.trim() ?? "") : undefined;
  }
  return client?.toString() ?? socketAddress;
}

/** The address or network that limits count a socket for; undefined for a trusted proxy or an unknown address. */
export function limitedAddressOf(
  socket: { readonly remoteAddress?: string | undefined } | undefined,
  trusted: TrustedProxies,
): string | undefined {
  const address = addressFromText(socket?.remoteAddress ?? "");
  return address && !isTrustedProxy(address, trusted) ? networkFromAddress(address.toString()) : undefined;
}

/** Whether an address is one of the trusted proxies. */
function isTrustedProxy(address: Address, trusted: TrustedProxies): boolean {
  return trusted.some(([base, bits]) => address.kind() === base.kind() && address.match(base, bits));
}

function rangeFromText(text: string): readonly [Address, number] | undefined {
  const [, written = "", bitsText] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = addressFromText(written);
  if (!address) return undefined;
  const maxBits = address.toByteArray().length * 8;
  if (bitsText === undefined) return [address, maxBits];
  const isMapped = isIP(written) === 6 && address.kind() === "ipv4";
  const bits = Number(bitsText) - (isMapped ? MAPPED_BITS : 0);
  return bits >= 0 && bits <= maxBits ? [address, bits] : undefined;
}

/** Parses an entry of X-Forwarded-For. Some proxies add the port, and brackets around IPv6 addresses. */
function addressFromHop(text: string): Address | undefined {
  const [, bracketed, dotted] = /^\[(.+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text) ?? [];
  const address = bracketed ?? dotted ?? text;
  // A zone has a meaning on one machine only, and it may be a text of any length.
  return address.includes("%") ? undefined : addressFromText(address);
}

function addressFromText(text: string): Address | undefined {
  // The library alone would also accept "1" and "0x7f.1".
  return isIP(text) ? ipaddr.process(text) : undefined;
}
