import { readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";

/** The host names that the system knows without DNS. */
const SYSTEM_HOSTS = "/etc/hosts";

/**
 * The names in a hosts file (hosts(5)). The file is read again when it changes. It is read synchronously, because it is
 * small and an asynchronous read would wait for libuv's thread pool.
 */
export class HostsFile {
  readonly #path: string;
  #version: string | undefined;
  #addresses = new Map<string, string[]>();

  constructor(path: string = SYSTEM_HOSTS) {
    this.#path = path;
  }

  /** Looks up a name in lower case without a final dot. Returns IPv4 addresses first; none for an unknown name. */
  lookUp(name: string): readonly string[] {
    this.#reload();
    return this.#addresses.get(name) ?? [];
  }

  #reload(): void {
    const version = readVersion(this.#path);
    if (version === this.#version) return;
    this.#version = version;
    try {
      this.#addresses = version === undefined ? new Map() : parseHosts(readFileSync(this.#path, "utf8"));
    } catch {
      // Unreadable or just removed: treated like a missing file.
      this.#addresses = new Map();
    }
  }
}

/** Identifies the version of a file; undefined if the file does not exist. */
function readVersion(path: string): string | undefined {
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
  for (const list of addresses.values()) list.sort((a, b) => isIP(a) - isIP(b));
  return addresses;
}
