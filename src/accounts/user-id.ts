import { hash, randomBytes } from "node:crypto";

/** 96 bits cannot be guessed. */
const ID_BYTES = 12;
/** Number of characters of the hash that form the fingerprint. */
export const FINGERPRINT_LENGTH = 10;

/** The format of a user id, for error messages. */
export const USER_ID_FORMAT = "8 to 128 printable characters without spaces";

/** Whether the text is a valid user id. Only printable ASCII is valid, so an id fits in a header. */
export function isUserId(text: string): boolean {
  return /^[\x21-\x7e]{8,128}$/.test(text);
}

/** Creates a random user id. */
export function createUserId(): string {
  // A hexadecimal id never starts with a dash, which a command line would parse as an option.
  return randomBytes(ID_BYTES).toString("hex");
}

/** Returns the SHA-256 of a user id in hexadecimal: the form in which ids are stored. */
export function hashUserId(id: string): string {
  return hash("sha256", id);
}

/** Returns the fingerprint that identifies a user in logs and output. */
export function fingerprintFromHash(idHash: string): string {
  return idHash.slice(0, FINGERPRINT_LENGTH);
}
