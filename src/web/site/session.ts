import { readFromBrowser, readFromTab, storeInBrowser, storeInTab } from "./tab-storage.ts";

/** The name that links and storage have for the API key: that of the original service. */
const USER_ID = "user_id";

/**
 * Takes an API key from the fragment of the address, as in `/#user_id=…`, and removes it from the address bar and the
 * history. Browsers never send a fragment to a server. The rest of the fragment stays. Returns an empty text if there
 * was no key.
 */
export function takeKeyFromAddress(): string {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const apiKey = parameters.get(USER_ID)?.trim();
  if (apiKey === undefined) return "";
  parameters.delete(USER_ID);
  const rest = parameters.size > 0 ? `#${parameters}` : "";
  history.replaceState(history.state, "", location.pathname + location.search + rest);
  return apiKey;
}

/** Reads the API key of the session; empty if there is none. */
export function readKey(): string {
  return readFromTab(USER_ID) ?? readFromBrowser(USER_ID) ?? "";
}

/** Whether the browser remembers the API key of the session. */
export function isKeyRemembered(): boolean {
  return readFromTab(USER_ID) === undefined && readFromBrowser(USER_ID) !== undefined;
}

/** Stores the API key for this browser tab, or for the browser. An empty one is forgotten in both. */
export function storeKey(key: string, isRemembered = isKeyRemembered()): void {
  if (isRemembered || key === "") storeInBrowser(USER_ID, key);
  storeInTab(USER_ID, isRemembered ? "" : key);
  reportChange();
}

/** Makes the browser forget its API key; the tab keeps it. */
export function forgetInBrowser(): void {
  if (isKeyRemembered()) storeInTab(USER_ID, readKey());
  storeInBrowser(USER_ID, "");
}

/** Calls a function each time that the session has another API key, also if another tab of the browser changes it. */
export function onKeyChange(listener: () => void): void {
  listeners.push(listener);
}

const listeners: (() => void)[] = [];
let knownKey = readKey();

function reportChange(): void {
  const key = readKey();
  if (key === knownKey) return;
  knownKey = key;
  for (const listener of listeners) listener();
}

addEventListener("storage", reportChange);
