// The people of a gallery in the browser. The service lists them by id, and names must not be in the address of a
// request, so the page itself sorts and searches them.
import { listPeople, type Person } from "./gallery-api.ts";

/** The most people that the page reads. */
export const MAX_PEOPLE = 10_000;
/** The most that one request returns. */
const PAGE_SIZE = 1_000;

const COLLATOR = new Intl.Collator(undefined, { numeric: true });

/** What the page has read of a gallery. */
export interface PeopleList {
  readonly people: readonly Person[];
  /** Whether the gallery has more people than the page reads. */
  readonly isCut: boolean;
}

/** Reads the people of a gallery, up to the limit. Throws RequestError. */
export async function readPeople(
  galleryId: string,
  signal: AbortSignal,
  onProgress: (count: number) => void,
): Promise<PeopleList> {
  const people: Person[] = [];
  let pageToken = "";
  do {
    const page = await listPeople(galleryId, { pageSize: PAGE_SIZE, pageToken }, { signal });
    people.push(...page.items);
    pageToken = page.nextPageToken;
    onProgress(people.length);
  } while (pageToken !== "" && people.length < MAX_PEOPLE);
  return { people: people.slice(0, MAX_PEOPLE), isCut: pageToken !== "" || people.length > MAX_PEOPLE };
}

/** Sorts people by name as a reader expects it, "Anna 2" before "Anna 10". Who has no name is sorted by id. */
export function sortPeople(people: readonly Person[]): Person[] {
  return [...people].sort(
    (one, other) =>
      COLLATOR.compare(nameOf(one), nameOf(other)) || COLLATOR.compare(one.personId, other.personId),
  );
}

/** Returns the people whose name or id has a text, whatever its case and accents. */
export function findPeople(people: readonly Person[], text: string): readonly Person[] {
  const wanted = fold(text.trim());
  if (wanted === "") return people;
  return people.filter(
    ({ displayName, personId }) => fold(displayName).includes(wanted) || fold(personId).includes(wanted),
  );
}

/** What the page calls a person. */
export function nameOf({ displayName, personId }: Pick<Person, "displayName" | "personId">): string {
  return displayName || personId;
}

/** Names a person so that namesakes can be told apart. */
export function fullNameOf({ displayName, personId }: Person): string {
  return displayName ? `${displayName} (${personId})` : personId;
}

function fold(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase();
}
