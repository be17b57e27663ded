import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findPeople, newPerson, readPeopleFolder } from "../../src/cli/person-folders.ts";
import type { Person } from "../../src/client/visage-client.ts";

/** A person with faces whose ids are given. */
function person(personId: string, displayName = "", ...faceIds: string[]): Person {
  const createTime = new Date();
  const faces = faceIds.map((faceId) => ({ faceId, createTime }));
  return { personId, displayName, createTime, expireTime: undefined, faces };
}

/** Finds people by folders of these photos, whose names are the ids of their faces. */
async function find(folders: Readonly<Record<string, readonly string[]>>, enrolled: readonly Person[]) {
  const paths = Object.keys(folders).map((name) => join("people", name));
  const found = await findPeople(paths, enrolled, async function* (path) {
    yield* folders[basename(path)]!;
  });
  return Object.fromEntries(Array.from(found, ([path, { personId }]) => [basename(path), personId]));
}

test("enrolled people are found by id, by name in any form of accents, and by a face if they were renamed", async () => {
  const enrolled = [person("17"), person("a1", "Zoë".normalize("NFC"), "x"), person("b2", "Ben", "y", "z")];
  const zoe = "Zoë".normalize("NFD");
  expect(
    await find({ "17": [], [zoe]: [], Bob: ["new", "z"], "Zoë's twin": ["x"], Eve: [] }, enrolled),
  ).toEqual({
    "17": "17",
    [zoe]: "a1",
    Bob: "b2",
  });
});

test("an id comes before a name, and a name of two people is an error", async () => {
  const enrolled = [person("ann", "17"), person("17", "Ann Lee"), person("18", "Ann Lee")];
  expect(await find({ "17": [], ann: [] }, enrolled)).toEqual({ "17": "17", ann: "ann" });
  await expect(find({ "Ann Lee": [] }, enrolled)).rejects.toThrow(
    "people/Ann Lee: is the name of several people; name the folder by the id of one of them",
  );
});

test("a new person gets the name of the folder and a random id, or the name as the id", () => {
  const people = [newPerson("people/Ann", false), newPerson("people/Ann", false)];
  for (const { personId, displayName } of people) {
    expect(personId).toMatch(/^[\da-f]{16}$/);
    expect(displayName).toBe("Ann");
  }
  expect(people[0]!.personId).not.toBe(people[1]!.personId);
  expect(newPerson("people/17", true)).toEqual({ folder: "people/17", personId: "17", displayName: "" });
  for (const name of ["Ann Lee", "李雷", "x".repeat(129)])
    expect(() => newPerson(`people/${name}`, true)).toThrow(
      `${name}: the name of the folder cannot be an id`,
    );
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
  const { folders, strayPhotos } = await readPeopleFolder(folder, {});
  expect(folders).toEqual(["ann", "bob", "link"].map((name) => join(folder, name)));
  expect(strayPhotos).toEqual([join(folder, "stray.jpg")]);
});

test("a folder that does not exist is named", async () => {
  await expect(readPeopleFolder("nowhere", {})).rejects.toThrow("nowhere: no such file or directory");
});
