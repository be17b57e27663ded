/** What a service, a plan or a key may permit. */
interface PermissionRow {
  /** What forms and tables call it. */
  readonly title: string;
  /** What it permits, for the help and the documentation. */
  readonly meaning: string;
}

const ROWS = {
  analyze: { title: "Analyze", meaning: "find and measure the faces of an image" },
  compare: { title: "Compare", meaning: "compare two images" },
  identify: { title: "Identify", meaning: "search a gallery for the faces of an image" },
  read: { title: "Read", meaning: "list galleries and people, with names and ids but without templates" },
  enrol: { title: "Enrol", meaning: "create and change galleries, people and faces" },
  export: { title: "Export", meaning: "read the templates of a gallery" },
  delete: { title: "Delete", meaning: "delete galleries, people and faces" },
  account: { title: "Account", meaning: "read the account and its usage, create and delete keys" },
  attributes: {
    title: "Attributes",
    meaning: "get attributes such as age and gender, and thresholds that fit them",
  },
  landmarks: { title: "Landmarks", meaning: "get landmarks" },
  embeddings: { title: "Embeddings", meaning: "get the embeddings of analysed faces" },
  urls: { title: "Images by URL", meaning: "name an image by its URL" },
  "identify-embedding": {
    title: "Identify by embedding",
    meaning: "search a gallery by an embedding instead of an image",
  },
  "wide-distance": {
    title: "Wide distance",
    meaning: "search beyond a gallery's threshold, or set one above 0.5",
  },
} satisfies Record<string, PermissionRow>;

/** The name of a permission: a purpose that can be switched off, and a scope of keys. */
export type Permission = keyof typeof ROWS;

/** Everything that can be permitted. Documentation, command line and pages follow from this table. */
export const PERMISSIONS: Readonly<Record<Permission, PermissionRow>> = ROWS;
export const PERMISSION_NAMES = Object.keys(ROWS) as readonly Permission[];

/** What all operations on galleries need: the meaning of the name `galleries` in a list of permissions. */
export const GALLERIES: readonly Permission[] = ["identify", "read", "enrol", "export", "delete"];

/** The names in a list of permissions, for error messages. */
export const PERMISSION_LIST_FORMAT = `a list of ${PERMISSION_NAMES.join(", ")} and galleries`;

/** Reads a list of permissions, in which `galleries` stands for all on galleries. Undefined if a name is unknown. */
export function permissionsFrom(names: readonly string[]): readonly Permission[] | undefined {
  const all = new Set<string>(names.flatMap<string>((name) => (name === "galleries" ? GALLERIES : [name])));
  const known = PERMISSION_NAMES.filter((name) => all.has(name));
  return known.length === all.size ? known : undefined;
}

/** What a key may be used for. */
export interface KeyRights {
  /** Undefined for everything. */
  readonly scopes?: readonly Permission[] | undefined;
  /** Ids and aliases of the galleries; undefined for all. */
  readonly galleryIds?: readonly string[] | undefined;
}

/** Returns what both permit. */
export function intersectRights(one: KeyRights, other: KeyRights): KeyRights {
  return {
    scopes: intersect(one.scopes, other.scopes),
    galleryIds: intersect(one.galleryIds, other.galleryIds),
  };
}

/** Whether some rights permit nothing that others do not. */
export function isWithinRights(inner: KeyRights, outer: KeyRights): boolean {
  return isWithin(inner.scopes, outer.scopes) && isWithin(inner.galleryIds, outer.galleryIds);
}

function intersect<T>(one: readonly T[] | undefined, other: readonly T[] | undefined) {
  if (!one || !other) return one ?? other;
  return one.filter((item) => other.includes(item));
}

function isWithin<T>(inner: readonly T[] | undefined, outer: readonly T[] | undefined): boolean {
  return outer === undefined || (inner?.every((item) => outer.includes(item)) ?? false);
}
