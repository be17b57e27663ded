import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** All that is given out for public IPv6 hosts. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");
/** Looks public, yet answers to every machine in Azure, with secrets among other things. */
const AZURE_WIRE_SERVER = "168.63.129.16";
/** How the lower half of an ISATAP address begins, whatever network it is in; an IPv4 address follows. */
const ISATAP_MARKS: readonly string[] = ["0:5efe", "200:5efe"];

/**
 * Tells whether an address is one of the public internet. Loopback, private, link-local, reserved and other
 * special addresses are not, nor is any IPv6 address that stands for an IPv4 address (mapped, 6to4, NAT64,
 * Teredo, ISATAP), nor one with a zone, nor text that is no address in its usual spelling.
 *
 * A NAT64 prefix of a network's own cannot be told from other addresses.
 */
export function isPublicAddress(address: string): boolean {
  if (!isPlainAddress(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(GLOBAL_UNICAST) && !isIsatap(parsed);
  return address !== AZURE_WIRE_SERVER;
}

/**
 * Tells whether text is an IP address as a socket dials it: no octal, hexadecimal or shortened IPv4, no zone.
 */
export function isPlainAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes("%");
}

function isIsatap(address: ipaddr.IPv6): boolean {
  const [, , , , high, low] = address.parts;
  return ISATAP_MARKS.includes(`${high!.toString(16)}:${low!.toString(16)}`);
}
