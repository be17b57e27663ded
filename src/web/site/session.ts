import { readFromTab, storeInTab } from "./tab-storage.ts";

const USER_ID = "user_id";

/**
 * Takes a user id from the fragment of the address, as in `/#user_id=…`, and removes it from the address bar and the
 * history. Browsers never send a fragment to a server. The rest of the fragment stays. Returns an empty text if there
 * was no id.
 */
export function takeUserIdFromAddress(): string {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const userId = parameters.get(USER_ID)?.trim();
  if (userId === undefined) return "";
  parameters.delete(USER_ID);
  const rest = parameters.size > 0 ? `#${parameters}` : "";
  history.replaceState(history.state, "", location.pathname + location.search + rest);
  return userId;
}

/** Reads the user id of this browser tab; empty if there is none. */
export function readUserId(): string {
  return readFromTab(USER_ID) ?? "";
}

/** Stores the user id for this browser tab; an empty one is removed. */
export function storeUserId(userId: string): void {
  storeInTab(USER_ID, userId);
}
