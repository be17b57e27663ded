import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** 96 bits, which nobody guesses. */
const ID_BYTES = 12;

/** The trial user's id: the one that is set, or one that is made once and kept, readable by its owner alone. */
export async function openTrialUser(dataDir: string, id?: string): Promise<string> {
  if (id) return id;
  const path = join(dataDir, "trial-user");
  const kept = await readFile(path, "utf8").catch(() => "");
  if (kept.trim()) return kept.trim();
  const made = randomBytes(ID_BYTES).toString("base64url");
  await mkdir(dataDir, { recursive: true });
  await writeFile(path, `${made}\n`, { mode: 0o600 });
  return made;
}

/** Tells whether a given id is a known one without telling by its time how much of it is right. */
export function isSameId(given: string, known: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(known));
}

function digestOf(id: string): Buffer {
  return createHash("sha256").update(id).digest();
}
