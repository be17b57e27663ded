import ipaddr from "ipaddr.js";
import { isPlainAddress } from "./public-address.ts";

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

const HOST_NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

/** Hosts and addresses that are allowed although they are not public, on any port. */
export interface AllowList {
  /** Whether a host name is listed. A listed name may resolve to any address. */
  hasHost(name: string): boolean;
  /** Whether an address is listed, or in a listed network. */
  hasAddress(address: string): boolean;
  /** Whether a host could be allowed: it is listed, or it is a name that might resolve to a listed address. */
  mayAllow(host: string): boolean;
}

/**
 * Parses a comma-separated list of networks (10.0.0.0/8), addresses and host names; blank text allows nothing.
 * Names match exactly except for case. Throws an Error that describes the expected form.
 */
export function parseAllowList(text: string): AllowList {
  const networks: Network[] = [];
  const hosts = new Set<string>();
  for (const entry of text.trim() ? text.split(",") : []) {
    const network = parseNetwork(entry.trim());
    if (network) networks.push(network);
    else hosts.add(parseHost(entry.trim()));
  }

  const hasHost = (name: string) => hosts.has(name.toLowerCase());
  const hasAddress = (address: string) => {
    if (!isPlainAddress(address)) return false;
    // An IPv4-mapped IPv6 address is the same as the IPv4 address.
    const plain = ipaddr.process(address);
    return networks.some(([base, bits]) => base.kind() === plain.kind() && plain.match(base, bits));
  };
  const mayAllow = (host: string) =>
    hasHost(host) || (isPlainAddress(host) ? hasAddress(host) : networks.length > 0);
  return { hasHost, hasAddress, mayAllow };
}

function parseNetwork(entry: string): Network | undefined {
  const [address] = entry.split("/", 1);
  if (!isPlainAddress(address!)) return undefined;
  if (address === entry) {
    const plain = ipaddr.process(entry);
    return [plain, plain.kind() === "ipv4" ? 32 : 128];
  }
  if (!ipaddr.isValidCIDR(entry)) throw malformedError(entry);
  const network = ipaddr.parseCIDR(entry);
  // Mapped addresses are compared as IPv4, so this network would never match.
  if (network[0].range() === "ipv4Mapped") throw malformedError(entry);
  return network;
}

function parseHost(entry: string): string {
  const name = entry.toLowerCase();
  // URLs normalize 127.1 and 0x7f.1 to an address, so such a name would never match.
  const isName = HOST_NAME.test(name) && URL.canParse(`http://${name}`);
  if (!isName || new URL(`http://${name}`).hostname !== name) throw malformedError(entry);
  return name;
}

function malformedError(entry: string): Error {
  return new Error(`must be addresses, networks such as 10.0.0.0/8 or exact host names, not "${entry}"`);
}
