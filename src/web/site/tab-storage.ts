/** What a browser that blocks storage remembers, until the page is left. */
const unstored = new Map<string, string>();

/** Reads what this browser tab remembers under a key; undefined if there is nothing. */
export function readFromTab(key: string): string | undefined {
  try {
    return sessionStorage.getItem(key) ?? undefined;
  } catch {
    return unstored.get(key);
  }
}

/** Remembers a value for this browser tab; an empty one is forgotten. */
export function storeInTab(key: string, value: string): void {
  unstored.set(key, value);
  try {
    if (value) sessionStorage.setItem(key, value);
    else sessionStorage.removeItem(key);
  } catch {
    // The browser blocks storage.
  }
}
