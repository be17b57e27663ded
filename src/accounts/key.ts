import { hash, randomBytes } from "node:crypto";

/** 128 bits cannot be guessed. */
const RANDOM_BYTES = 16;
/** Number of characters of a fingerprint. */
export const FINGERPRINT_LENGTH = 10;

/** The prefix of generated keys, by which secret scanners find them: `vsg_[0-9a-f]{32}`. */
const KEY_PREFIX = "vsg_";

/** The format of a key, for error messages. */
export const KEY_FORMAT = "8 to 128 printable characters without spaces";

/** Whether the text can be a key. Only printable ASCII is valid, so a key fits in a header. */
export function isKey(text: string): boolean {
  return /^[\x21-\x7e]{8,128}$/.test(text);
}

/** Creates a random key. */
export function createKey(): string {
  return KEY_PREFIX + randomBytes(RANDOM_BYTES).toString("hex");
}

/** Returns the SHA-256 of a key in hexadecimal: the form in which keys are stored. */
export function hashKey(key: string): string {
  return hash("sha256", key);
}

/** Creates the random id of a new user. It is not a secret, and no credential. */
export function createUserId(): string {
  return randomBytes(RANDOM_BYTES).toString("hex");
}

/** Returns the first characters of a user's id or a key's hash, which identify it in logs and output. */
export function fingerprintOf(idOrHash: string): string {
  return idOrHash.slice(0, FINGERPRINT_LENGTH);
}
