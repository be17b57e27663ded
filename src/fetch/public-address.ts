import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** The range from which public IPv6 addresses are assigned. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");
/** A public address that serves metadata, including secrets, to every machine in Azure. */
const AZURE_WIRE_SERVER = "168.63.129.16";
/** The first half of the interface identifier of an ISATAP address, in any network; an IPv4 address follows. */
const ISATAP_IDENTIFIERS: readonly string[] = ["0:5efe", "200:5efe"];

/**
 * Whether an address belongs to the public internet. Not public are: loopback, private, link-local, reserved and other
 * special addresses; IPv6 addresses that embed an IPv4 address (mapped, 6to4, NAT64, Teredo, ISATAP); addresses with a
 * zone; and text that is not an address in its usual notation.
 *
 * A network-specific NAT64 prefix cannot be distinguished from other addresses.
 */
export function isPublicAddress(address: string): boolean {
  if (!isPlainAddress(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(GLOBAL_UNICAST) && !isIsatap(parsed);
  return address !== AZURE_WIRE_SERVER;
}

/** Whether text is an IP address in its usual notation: no octal, hexadecimal or shortened IPv4, no zone. */
export function isPlainAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes("%");
}

function isIsatap(address: ipaddr.IPv6): boolean {
  const [, , , , high, low] = address.parts;
  return ISATAP_IDENTIFIERS.includes(`${high!.toString(16)}:${low!.toString(16)}`);
}
