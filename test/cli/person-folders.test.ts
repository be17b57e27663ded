import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { personFromFolder, readPeopleFolder } from "../../src/cli/person-folders.ts";

const ID = /^[\w.~-]{1,128}$/;

test.each(["17", "ann", "Ann_Lee-2.~", "x".repeat(128)])("the folder name %j is the id", (name) => {
  expect(personFromFolder(name)).toEqual({ personId: name, displayName: undefined });
});

test.each([
  ["Ann Lee", /^Ann-Lee-[\da-f]{12}$/],
  ["Ægir Ólafsson", /^gir-Olafsson-[\da-f]{12}$/],
  ["李雷", /^person-[\da-f]{12}$/],
  ["..", /^\.\.-[\da-f]{12}$/],
  ["x".repeat(200), /^x{100}-[\da-f]{12}$/],
])("the folder name %j becomes the name, and an id is made from it", (name, id) => {
  const { personId, displayName } = personFromFolder(name);
  expect(displayName).toBe(name);
  expect(personId).toMatch(id);
  expect(personId).toMatch(ID);
});

test("names that differ only in other characters have different ids", () => {
  const ids = ["Ann Lee", "Ann+Lee", "Ann  Lee", "Änn Lee"].map((name) => personFromFolder(name).personId);
  expect(new Set(ids).size).toBe(4);
});

test("a name has the same id on file systems that decompose accents", () => {
  const composed = personFromFolder("Zoë".normalize("NFC"));
  expect(personFromFolder("Zoë".normalize("NFD"))).toEqual(composed);
  expect(composed.displayName).toBe("Zoë".normalize("NFC"));
});

test("a folder has people in order, and photos that belong to nobody", async () => {
  const folder = await mkdtemp(join(tmpdir(), "visage-people-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const file of ["bob/1.jpg", "ann/1.jpg", ".trash/1.jpg", "stray.jpg", "notes.txt", "photo.webp"]) {
    await mkdir(join(folder, dirname(file)), { recursive: true });
    await writeFile(join(folder, file), "");
  }
  await symlink("ann", join(folder, "link"));
  await symlink("nowhere", join(folder, "broken"));
  const { people, strayPhotos } = await readPeopleFolder(folder, {});
  expect(people.map(({ personId }) => personId)).toEqual(["ann", "bob", "link"]);
  expect(strayPhotos).toEqual([join(folder, "stray.jpg")]);
});

test("a folder that does not exist is named", async () => {
  await expect(readPeopleFolder("nowhere", {})).rejects.toThrow("nowhere: no such file or directory");
});
