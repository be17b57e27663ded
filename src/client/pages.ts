import type { Page } from "./gallery-types.ts";

/** Iterates over the items of all pages. Reads a page when the items before it have been taken. */
export async function* itemsOfPages<Item>(
  readPage: (pageToken: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
  let token: string | undefined;
  do {
    const { items, nextPageToken } = await readPage(token);
    yield* items;
    token = nextPageToken;
  } while (token !== undefined);
}

/** Makes a page. The service sends an empty token on the last one. */
export function pageOf<Item>(items: readonly Item[], nextPageToken: string): Page<Item> {
  return { items, nextPageToken: nextPageToken || undefined };
}
