import { type CallOptions, listPeople, type Person } from "./gallery-api.ts";

/** The most that one request returns. */
const PAGE_SIZE = 1_000;

/** Options of reading. */
interface ReadOptions extends CallOptions {
  /** The most people to read. All by default. */
  readonly max?: number;
  onProgress?(count: number): void;
}

/** What was read of a gallery. */
export interface PeopleList {
  readonly people: readonly Person[];
  /** Whether the gallery has more people. */
  readonly isCut: boolean;
}

/** Reads the people of a gallery. Throws RequestError. */
export async function readPeople(
  galleryId: string,
  { max = Number.POSITIVE_INFINITY, onProgress, ...options }: ReadOptions = {},
): Promise<PeopleList> {
  const people: Person[] = [];
  let pageToken = "";
  do {
    const page = await listPeople(galleryId, { pageSize: PAGE_SIZE, pageToken }, options);
    people.push(...page.items);
    pageToken = page.nextPageToken;
    onProgress?.(people.length);
  } while (pageToken !== "" && people.length < max);
  return { people: people.slice(0, max), isCut: pageToken !== "" || people.length > max };
}
