/** Values by key that outlast a page. */
interface Values {
  /** Reads a value; undefined if there is none. */
  read(key: string): string | undefined;
  /** Stores a value; an empty one is forgotten. */
  store(key: string, value: string): void;
}

/** What this browser tab remembers. */
export const { read: readFromTab, store: storeInTab } = createValues(() => sessionStorage);

/** What all tabs of this browser remember, also after it is closed. */
export const { read: readFromBrowser, store: storeInBrowser } = createValues(() => localStorage);

function createValues(open: () => Storage): Values {
  // What a browser that blocks storage remembers, until the page is left.
  const unstored = new Map<string, string>();
  return {
    read(key) {
      try {
        return open().getItem(key) ?? undefined;
      } catch {
        return unstored.get(key);
      }
    },
    store(key, value) {
      try {
        if (value) open().setItem(key, value);
        else open().removeItem(key);
      } catch {
        if (value) unstored.set(key, value);
        else unstored.delete(key);
      }
    },
  };
}
