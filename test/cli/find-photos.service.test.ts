import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FindOptions, type FoundPhoto, findPhotos } from "../../src/cli/find-photos.ts";

const FILES = [
  ...["photos/b.jpg", "photos/a.PNG", "photos/c.jpeg", "photos/notes.txt", "photos/.hidden.jpg"],
  ...[
    "photos/.trash/x.jpg",
    "photos/sub/deep/d.jpg",
    "photos/sub/e.png",
    "odd/photo[1].jpg",
    "odd/photo1.jpg",
  ],
];

const startFolder = process.cwd();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "visage-photos-"));
  for (const file of FILES) {
    await mkdir(join(folder, dirname(file)), { recursive: true });
    await writeFile(join(folder, file), "");
  }
  await mkdir(join(folder, "empty/folder.jpg"), { recursive: true });
  await symlink("../../photos", join(folder, "photos/sub/loop"));
  await symlink("../b.jpg", join(folder, "photos/sub/link.jpg"));
  await symlink("nowhere.jpg", join(folder, "photos/sub/broken.jpg"));
  process.chdir(folder);
});
afterAll(async () => {
  process.chdir(startFolder);
  await rm(folder, { recursive: true });
});

async function find(args: readonly string[], options?: FindOptions): Promise<FoundPhoto[]> {
  const found: FoundPhoto[] = [];
  for await (const photo of findPhotos(args, options)) found.push(photo);
  return found;
}

async function files(...args: string[]): Promise<string[]> {
  return (await find(args)).map(({ file, error }) => (error ? `${file}: ${error}` : file));
}

const TOP = ["photos/a.PNG", "photos/b.jpg", "photos/c.jpeg"];
const SUB = ["photos/sub/broken.jpg", "photos/sub/deep/d.jpg", "photos/sub/e.png", "photos/sub/link.jpg"];

test("a folder is searched recursively, by name, without hidden files, other files and linked folders", async () => {
  expect(await files("photos")).toEqual([...TOP, ...SUB]);
  expect(await files("./photos/")).toEqual([...TOP, ...SUB]);
  expect(await files(join(folder, "photos/sub/deep"))).toEqual([join(folder, "photos/sub/deep/d.jpg")]);
});

test("files stay as they are given, in the order of the arguments", async () => {
  expect(await files("photos/notes.txt", "nowhere.jpg", "photos/sub/deep", "./photos/b.jpg")).toEqual([
    "photos/notes.txt",
    "nowhere.jpg",
    "photos/sub/deep/d.jpg",
    "./photos/b.jpg",
  ]);
});

test.each([
  ["photos/*.jpg", ["photos/b.jpg"]],
  ["photos/*", TOP],
  ["photos/**", [...TOP, ...SUB]],
  ["photos/**/*.{jpg,png}", ["photos/b.jpg", ...SUB]],
  ["**/d.jpg", ["photos/sub/deep/d.jpg"]],
  ["p*/s?b/e.png", ["photos/sub/e.png"]],
  ["./photos/[bc].*", ["photos/b.jpg", "photos/c.jpeg"]],
  ["*.jpg", ["*.jpg: has no photos (.jpg, .jpeg, .png)"]],
  ["photos/*.txt", ["photos/*.txt: has no photos (.jpg, .jpeg, .png)"]],
  ["nowhere/*.jpg", ["nowhere: no such file or directory"]],
])("the pattern %s is expanded", async (pattern, expected) => {
  expect(await files(pattern)).toEqual(expected);
  expect(await files(join(folder, pattern))).toEqual(
    expected.map((file) => join(folder, file.replace(/^nowhere:/, "nowhere:"))),
  );
});

test("a file whose name looks like a pattern is that file", async () => {
  expect(await files("odd/photo[1].jpg")).toEqual(["odd/photo[1].jpg"]);
  expect(await files("odd/photo[12].jpg")).toEqual(["odd/photo1.jpg"]);
});

test("a folder without photos is an error", async () => {
  expect(await files("empty")).toEqual(["empty: has no photos (.jpg, .jpeg, .png)"]);
});

test("other formats are found if they are accepted", async () => {
  await writeFile("photos/sub/deep/f.webp", "");
  const found = await find(["photos/sub/deep"], { formats: ["png", "webp"] });
  expect(found).toEqual([{ file: "photos/sub/deep/f.webp" }]);
  expect(await files("photos/sub/deep")).toEqual(["photos/sub/deep/d.jpg"]);
});

test("the excluded folder is skipped", async () => {
  const found = await find(["photos"], { excludedFolder: resolve("photos/sub") });
  expect(found.map(({ file }) => file)).toEqual(TOP);
});

test("an aborted search ends", async () => {
  const controller = new AbortController();
  const search = findPhotos(["photos", "empty"], { signal: controller.signal });
  expect((await search.next()).value).toEqual({ file: "photos/a.PNG" });
  controller.abort();
  expect((await search.next()).done).toBe(true);
});
