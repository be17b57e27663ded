import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Ranges of addresses whose word about the address before them is taken. */
export type TrustedProxies = readonly (readonly [Address, prefixBits: number])[];

/** Bits in front of an IPv4 address that is written as an IPv6 one. */
const MAPPED_BITS = 96;

/** Reads addresses and CIDR ranges, separated by commas. Throws an Error that says what they should be. */
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
 * The address of a client: the last in X-Forwarded-For that is not a trusted proxy, where the other end of the
 * socket is one. What comes before an entry that is no address is not believed. An IPv4 address that is written
 * as an IPv6 one becomes IPv4; a socket address that cannot be read is given back as it is.
 */
export function clientAddressOf(
  socketAddress: string,
  forwardedFor: string | undefined,
  trusted: TrustedProxies,
): string {
  const hops = forwardedFor?.split(",") ?? [];
  let client = addressFromText(socketAddress);
  let before = client;
  while (before) {
    client = before;
    before = isTrustedProxy(client, trusted) ? addressFromHop(hops.pop()?.trim() ?? "") : undefined;
  }
  return client?.toString() ?? socketAddress;
}

/** Whether an address is one of the trusted proxies. */
export function isTrustedProxy(address: Address, trusted: TrustedProxies): boolean {
  return trusted.some(([base, bits]) => address.kind() === base.kind() && address.match(base, bits));
}

function rangeFromText(text: string): readonly [Address, number] | undefined {
  const [, written = "", bitsText] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = addressFromText(written);
  if (!address) return undefined;
  const mostBits = address.toByteArray().length * 8;
  if (bitsText === undefined) return [address, mostBits];
  const isMapped = isIP(written) === 6 && address.kind() === "ipv4";
  const bits = Number(bitsText) - (isMapped ? MAPPED_BITS : 0);
  return bits >= 0 && bits <= mostBits ? [address, bits] : undefined;
}

/** Reads an entry of X-Forwarded-For; some proxies write the port too, and brackets around IPv6. */
function addressFromHop(text: string): Address | undefined {
  const [, bracketed, dotted] = /^\[(.+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text) ?? [];
  return addressFromText(bracketed ?? dotted ?? text);
}

function addressFromText(text: string): Address | undefined {
  // The library by itself would also read "1" and "0x7f.1".
  return isIP(text) ? ipaddr.process(text) : undefined;
}
