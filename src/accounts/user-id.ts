import { hash, randomBytes } from "node:crypto";

/** 96 bits, which nobody guesses. */
const ID_BYTES = 12;
/** How many characters of the hash a fingerprint has. */
export const FINGERPRINT_CHARACTERS = 10;

/** What an id may look like, in words. */
export const USER_ID_FORM = "8 to 128 printable characters without spaces";

/** Tells whether a text may be an id: it has the form above, in ASCII, and so fits in a header. */
export function isUserId(text: string): boolean {
  return /^[\x21-\x7e]{8,128}$/.test(text);
}

/** Makes a new user id. */
export function createUserId(): string {
  // In hexadecimal no id begins with a dash, which a command line would take for an option.
  return randomBytes(ID_BYTES).toString("hex");
}

/** What is stored of an id. */
export function hashOf(id: string): string {
  return hash("sha256", id);
}

/** What logs and people call a user. */
export function fingerprintOf(idHash: string): string {
  return idHash.slice(0, FINGERPRINT_CHARACTERS);
}
