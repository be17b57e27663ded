import type { KeyUse } from "./account-store.ts";

const MINUTE_MS = 60_000;

/**
 * Collects when keys were last used, to the minute. A key is reported once a minute, however often it is used, so that
 * a busy key costs one write a minute.
 */
export class KeyUses {
  /** Start of the current minute. */
  #minuteMs = 0;
  /** Hashes of the keys that were used in the current minute. */
  readonly #used = new Set<string>();
  /** Start of the minute of the last use by key hash, for keys that have not been taken since. */
  readonly #pending = new Map<string, number>();

  /** Records that a key is used now. */
  add(hash: string): void {
    const minuteMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
    if (minuteMs !== this.#minuteMs) {
      this.#minuteMs = minuteMs;
      this.#used.clear();
    }
    if (this.#used.has(hash)) return;
    this.#used.add(hash);
    this.#pending.set(hash, minuteMs);
  }

  /** Removes and returns at most `limit` uses. */
  take(limit: number): KeyUse[] {
    const taken: KeyUse[] = [];
    for (const [hash, minuteMs] of this.#pending) {
      if (taken.length >= limit) break;
      this.#pending.delete(hash);
      taken.push({ hash, usedAt: new Date(minuteMs) });
    }
    return taken;
  }
}
