/** The ids that the service accepts. */
const ID = /^(?!\.{1,2}$)[\w.~-]{1,128}$/;
/** Longest id that is made from a name. */
const MAX_SUGGESTION = 40;

/** Whether the service accepts an id. */
export function isId(text: string): boolean {
  return ID.test(text);
}

/** Makes an id from the name of a gallery: `Café Staff` becomes `cafe-staff`. Empty if nothing is left. */
export function suggestId(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_SUGGESTION)
    .replace(/^-+|-+$/g, "");
}

/** Makes an id for a person. It is random, because ids are in the log of the service and names must not be. */
export function randomPersonId(): string {
  // Unlike `randomUUID`, this also works on pages that are served over plain HTTP.
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `p-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
