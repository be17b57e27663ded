// The service lists people by id, and names must not be in the address of a request, so the page itself sorts and
// searches them.

/** What names a person. */
interface Named {
  readonly personId: string;
  readonly displayName: string;
}

const COLLATOR = new Intl.Collator(undefined, { numeric: true });

/** Sorts people by name as a reader expects it, "Anna 2" before "Anna 10". Who has no name is sorted by id. */
export function sortPeople<Person extends Named>(people: readonly Person[]): Person[] {
  return [...people].sort(
    (one, other) =>
      COLLATOR.compare(nameOf(one), nameOf(other)) || COLLATOR.compare(one.personId, other.personId),
  );
}

/** Returns the people whose name or id has a text, whatever its case and accents. */
export function findPeople<Person extends Named>(people: readonly Person[], text: string): readonly Person[] {
  const wanted = fold(text.trim());
  if (wanted === "") return people;
  return people.filter(
    ({ displayName, personId }) => fold(displayName).includes(wanted) || fold(personId).includes(wanted),
  );
}

/** What the page calls a person. */
export function nameOf({ displayName, personId }: Named): string {
  return displayName || personId;
}

/** Names a person so that namesakes can be told apart. */
export function fullNameOf({ displayName, personId }: Named): string {
  return displayName ? `${displayName} (${personId})` : personId;
}

function fold(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase();
}
