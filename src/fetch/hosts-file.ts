import { readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";

/** Where the system keeps the names that it knows without DNS. */
const SYSTEM_HOSTS = "/etc/hosts";

/**
 * The names in a hosts file (hosts(5)). It is read again when it changes.
 *
 * It is read synchronously: it is small, and an asynchronous read would wait for libuv's thread pool.
 */
export class HostsFile {
  readonly #path: string;
  #version: string | undefined;
  #addresses = new Map<string, string[]>();

  constructor(path: string = SYSTEM_HOSTS) {
    this.#path = path;
  }

  /** The addresses of a name, in lower case and without a final dot; IPv4 first. Empty for an unknown name. */
  addressesOf(name: string): readonly string[] {
    this.#reload();
    return this.#addresses.get(name) ?? [];
  }

  #reload(): void {
    const version = versionOf(this.#path);
    if (version === this.#version) return;
    this.#version = version;
    try {
      this.#addresses = version === undefined ? new Map() : parseHosts(readFileSync(this.#path, "utf8"));
    } catch {
      // Removed or made unreadable in this moment: treated like a missing file.
      this.#addresses = new Map();
    }
  }
}

/** Changes whenever the file does; undefined for a file that does not exist. */
function versionOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat && `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
}

function parseHosts(text: string): Map<string, string[]> {
  const addresses = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names.map((alias) => alias.toLowerCase().replace(/\.$/, ""))) {
      const known = addresses.get(name);
      if (!known) addresses.set(name, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  for (const list of addresses.values()) list.sort((one, other) => isIP(one) - isIP(other));
  return addresses;
}
