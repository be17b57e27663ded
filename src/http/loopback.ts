import ipaddr from "ipaddr.js";

/** Whether only this machine can reach a server that listens on this address. Of host names, only localhost counts. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || (ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback");
}
