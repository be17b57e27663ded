import { intersectRights } from "../permissions.ts";
import type { AccountLookup } from "./account-cache.ts";
import type { Account } from "./account-store.ts";

/** What the credentials of a request lead to, if not to one user. */
export type IdentificationFault =
  /** A credential leads to no user. */
  | "unknown"
  /** The credentials do not lead to the same user. */
  | "contradictory"
  | "unavailable";

/** The result of looking up the credentials of a request; at least one is given. */
export interface CredentialLookups {
  readonly keys: readonly AccountLookup[];
  /** The look-up of the client certificate; undefined if there is none. */
  readonly certificate: AccountLookup | undefined;
}

/**
 * Finds the user to which all credentials of a request belong. A certificate of nobody is ignored beside a key, because
 * a client may need it for other services. Two credentials that do not lead to one user are contradictory whether or
 * not one of them is valid, so that the result does not tell which one is. The account has the rights that all
 * credentials permit.
 */
export function identifyUser({ keys, certificate }: CredentialLookups): Account | IdentificationFault {
  const isIgnored = certificate === undefined || (certificate === "unknown" && keys.length > 0);
  const lookups = isIgnored ? keys : [...keys, certificate];
  if (lookups.includes("unavailable")) return "unavailable";
  const accounts = lookups.map(unlessExpired);
  const [first = "unknown"] = accounts;
  if (accounts.length > 1 && !accounts.every((account) => isSameUser(account, first))) return "contradictory";
  if (first === "unknown") return first;
  // Whoever sends two keys can do what both permit: a program that adds a key gets no more than before.
  return (accounts as readonly Account[]).reduce(withCommonRights);
}

function withCommonRights(one: Account, other: Account): Account {
  const ends = [one, other].flatMap(({ keyExpiresAt }) => keyExpiresAt?.getTime() ?? []);
  return {
    ...one,
    rights: intersectRights(one.rights, other.rights),
    keyNames: [...one.keyNames, ...other.keyNames],
    keyExpiresAt: ends.length > 0 ? new Date(Math.min(...ends)) : undefined,
  };
}

/** An account may be cached for longer than its key is valid. */
function unlessExpired(lookup: AccountLookup): Account | "unknown" {
  if (typeof lookup === "string") return "unknown";
  const { keyExpiresAt } = lookup;
  return keyExpiresAt && keyExpiresAt.getTime() <= Date.now() ? "unknown" : lookup;
}

function isSameUser(one: Account | "unknown", other: Account | "unknown"): boolean {
  return one !== "unknown" && other !== "unknown" && one.user.id === other.user.id;
}
