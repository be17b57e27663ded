import ipaddr from "ipaddr.js";
import { isPlainAddress } from "./address-guard.ts";

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

const HOST_NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

/** What may be dialled although it is not public, on any port. */
export interface AllowList {
  /** Whether a host name is listed; it may then lead to any address. */
  hasHost(name: string): boolean;
  /** Whether an address is listed, or in a listed network. */
  hasAddress(address: string): boolean;
  /** Whether a URL with this host could lead to something listed, as far as can be told without a look-up. */
  mayCover(host: string): boolean;
}

/**
 * Reads a comma-separated list of networks (10.0.0.0/8), addresses and host names; blank text allows nothing.
 * Names are exact but for their case. Throws an Error that says what an entry should be.
 */
export function parseAllowList(text: string): AllowList {
  const networks: Network[] = [];
  const hosts = new Set<string>();
  for (const entry of text.trim() ? text.split(",") : []) {
    const network = networkFrom(entry.trim());
    if (network) networks.push(network);
    else hosts.add(hostFrom(entry.trim()));
  }

  const hasHost = (name: string) => hosts.has(name.toLowerCase());
  const hasAddress = (address: string) => {
    if (!isPlainAddress(address)) return false;
    // An IPv4 address stays the same address when it is written as IPv6.
    const plain = ipaddr.process(address);
    return networks.some(([base, bits]) => base.kind() === plain.kind() && plain.match(base, bits));
  };
  const mayCover = (host: string) =>
    hasHost(host) || (isPlainAddress(host) ? hasAddress(host) : networks.length > 0);
  return { hasHost, hasAddress, mayCover };
}

function networkFrom(entry: string): Network | undefined {
  const [address] = entry.split("/", 1);
  if (!isPlainAddress(address!)) return undefined;
  if (address === entry) {
    const plain = ipaddr.process(entry);
    return [plain, plain.kind() === "ipv4" ? 32 : 128];
  }
  if (!ipaddr.isValidCIDR(entry)) throw malformed(entry);
  const network = ipaddr.parseCIDR(entry);
  // Addresses are compared as IPv4, so that such a network would never match.
  if (network[0].range() === "ipv4Mapped") throw malformed(entry);
  return network;
}

function hostFrom(entry: string): string {
  const name = entry.toLowerCase();
  // A URL turns 127.1 or 0x7f.1 into an address, which is then no longer that name.
  const isKept = HOST_NAME.test(name) && URL.canParse(`http://${name}`);
  if (!isKept || new URL(`http://${name}`).hostname !== name) throw malformed(entry);
  return name;
}

function malformed(entry: string): Error {
  return new Error(`must be addresses, networks such as 10.0.0.0/8 or exact host names, not "${entry}"`);
}
