import { readFromTab, storeInTab } from "../site/tab-storage.ts";

const ADMIN_KEY = "admin_key";

/** Reads the admin key of this browser tab; empty if there is none. No other page reads it. */
export function readAdminKey(): string {
  return readFromTab(ADMIN_KEY) ?? "";
}

/** Stores the admin key for this browser tab; an empty one is removed. */
export function storeAdminKey(key: string): void {
  storeInTab(ADMIN_KEY, key);
}
