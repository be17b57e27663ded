import { createHash, randomBytes } from "node:crypto";

/** 96 bits, which nobody guesses. */
const ID_BYTES = 12;
/** How many characters of the hash a fingerprint has. */
export const FINGERPRINT_CHARACTERS = 10;

/** Makes a new user id. */
export function createUserId(): string {
  return randomBytes(ID_BYTES).toString("base64url");
}

/** What is stored of an id. */
export function hashOf(id: string): string {
  return createHash("sha256").update(id).digest("hex");
}

/** What logs and people call a user. */
export function fingerprintOf(idHash: string): string {
  return idHash.slice(0, FINGERPRINT_CHARACTERS);
}
