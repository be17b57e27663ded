import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

/** SHA-256 as hexadecimal text. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The bytes of a file, or nothing if it is missing or does not hash to the digest. */
export async function readIfIntact(path: string, digest: string): Promise<Uint8Array | undefined> {
  const bytes = await readFile(path).catch(() => undefined);
  return bytes && sha256(bytes) === digest ? bytes : undefined;
}

/** Refuses bytes that are not the expected ones, saying whose they are and both digests. */
export function requireDigest(what: string, bytes: Uint8Array, expected: string): void {
  const actual = sha256(bytes);
  if (actual !== expected) throw new Error(`${what}: expected sha256 ${expected}, found ${actual}`);
}
