import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { Interruption } from "../../src/cli/command.ts";
import { createVisageClient, type Gallery, type VisageClient } from "../../src/client/visage-client.ts";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { addTestUser } from "../support/accounts.ts";
import { runInProcess, TextOutput } from "../support/command-line.ts";
import { ALL_FACES, cropPhotograph, FACES, growBox } from "../support/faces.ts";
import { photograph, plainImage } from "../support/images.ts";
import { FRAME, startLossyProxy } from "../support/lossy-proxy.ts";
import { startTestService, USER } from "../support/service.ts";
import { randomVectors } from "../support/vectors.ts";

const CLI = join(PACKAGE_ROOT, "dist/src/cli/main.js");
const SMALL_USER = "a-user-with-three-faces";
const SOON = { timeout: 30_000, interval: 5 };

const folder = mkdtempSync(join(tmpdir(), "visage-cli-galleries-"));
const startFolder = process.cwd();
let service: RunningService;
let client: VisageClient;
let model: string;
/** The number of photos in people/, all of which can be enrolled. */
let photoCount = 0;

beforeAll(async () => {
  const dataDir = join(folder, "data");
  const store = await openAccountStore({ databaseUrl: undefined, dataDir });
  await addTestUser(store, SMALL_USER, { maxGalleryFaces: 3 });
  await store.close();
  service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_WORKERS: "2" });
  client = createVisageClient({ address: serverUrl(), apiKey: USER });
  process.chdir(folder);
  photoCount = await writePeople();
});
afterAll(async () => {
  process.chdir(startFolder);
  client.close();
  await service.close();
  rmSync(folder, { recursive: true });
});

let ids = 0;
let galleryId: string;
beforeEach(async () => {
  galleryId = `g${++ids}`;
  ({ model } = await client.galleries.create(galleryId));
});

function serverUrl(port = service.port): string {
  return `http://127.0.0.1:${port}`;
}

/** Writes the folder people/ with a folder for each of some faces, and two photos in each. */
async function writePeople(): Promise<number> {
  // Photograph 2 has a profile and covered faces. Of the others, one is the woman of photograph 1, and the mirrored one is
  // not usable.
  const left = ["sample 3, face 1", "sample 3, face 2"];
  const usable = ALL_FACES.filter(({ sample, name }) => sample !== 2 && !left.includes(name)).slice(0, 10);
  for (const [i, { sample, box }] of usable.entries()) {
    const person = join("people", i === 0 ? "Ann Müller" : `p${i}`);
    mkdirSync(join(person, "more"), { recursive: true });
    writeFileSync(join(person, "one.jpg"), await cropPhotograph(sample, growBox(box, 1.4)).jpeg().toBuffer());
    const mirrored = await cropPhotograph(sample, growBox(box, 1.4)).flop().jpeg().toBuffer();
    writeFileSync(join(person, "more", "two.jpg"), mirrored);
  }
  return 2 * usable.length;
}

/** Runs a command in this process. */
async function run(args: readonly string[], { port = service.port, key = USER, context = {} } = {}) {
  return runInProcess(["galleries", ...args, "--server", serverUrl(port)], { VISAGE_KEY: key }, context);
}

/** Starts a command in a process of its own. */
function start(args: readonly string[], port = service.port) {
  const child = spawn(process.execPath, [CLI, "galleries", ...args, "--server", serverUrl(port)], {
    env: { PATH: process.env.PATH, VISAGE_KEY: USER },
    stdio: ["ignore", "ignore", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Starts a proxy that stalls after some frames with data. `stalled` resolves when it does. */
async function startStallingProxy(frames: number) {
  let resolve = () => {};
  const stalled = new Promise<void>((done) => {
    resolve = done;
  });
  let passed = 0;
  const port = await startLossyProxy(service.port, (type) => {
    if (type !== FRAME.data || passed++ < frames) return "pass";
    resolve();
    return "stall";
  });
  return { port, stalled };
}

/** Everything in a gallery, besides when it was enrolled. */
async function contentOf(id: string) {
  const faces = [];
  for await (const { createTime: _, ...face } of client.galleries.exportFaces(id)) faces.push(face);
  return faces;
}

/** The names of people, each with the id of a face. Ids of people are random. */
async function namesAndFacesOf(id: string): Promise<string[]> {
  const content = await contentOf(id);
  return content.map(({ displayName, faceId }) => `${displayName} ${faceId}`).sort();
}

/** Imports faces of invented people. */
async function importInvented(count: number): Promise<void> {
  const faces = randomVectors(count, 1).map((embedding, i) => ({
    personId: `p${i}`,
    faceId: "f",
    template: { embedding, model },
  }));
  await client.galleries.importFaces(galleryId, faces);
}

describe("visage galleries", () => {
  test("creates, lists, shows and deletes a gallery", async () => {
    const id = `${galleryId}-new`;
    const created = await run(["create", id, "--name", "The staff", "--max-distance", "0.45", "--json"]);
    expect(created).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(created.stdout) as Gallery).toMatchObject({
      galleryId: id,
      displayName: "The staff",
      maxDistance: 0.45,
      faceCount: 0,
    });
    expect(await run(["create", id])).toMatchObject({
      code: 1,
      stderr: `visage: The gallery ${id} exists already.\n`,
    });
    expect((await run(["list"])).stdout).toMatch(new RegExp(`^${id} +The staff +0 +0 +0.45 +20`, "m"));
    expect((await run(["show", id])).stdout).toMatch(/^gallery .*\nname +The staff\npeople +0\nfaces +0\n/);
    expect((await run(["show", galleryId])).stdout).toMatch(/^threshold +automatic$/m);
    expect((await run(["show", galleryId, "--people"])).stdout).toBe("The gallery is empty.\n");
    expect((await run(["list"], { key: SMALL_USER })).stdout).toBe("There are no galleries.\n");
    expect(await run(["delete", id, "--yes"])).toMatchObject({ code: 0 });
    expect(await run(["show", id])).toMatchObject({
      code: 1,
      stderr: `visage: There is no gallery ${id}.\n`,
    });
  });

  test("names the address of a service that cannot be reached, and an unknown key", async () => {
    const { code, stderr } = await run(["list"], { port: 1 });
    expect([code, stderr]).toEqual([1, expect.stringContaining("visage: http://127.0.0.1:1: connect ")]);
    expect(await run(["list"], { key: "nobody-of-tests" })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("unknown or expired"),
    });
  });

  test("calls the service on this machine by default, at the port of its settings", async () => {
    const env = { VISAGE_KEY: USER, VISAGE_PORT: String(service.port) };
    expect(await runInProcess(["galleries", "list"], env)).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("visage galleries person", () => {
  test("shows, exports and deletes a person in all galleries, with a receipt", async () => {
    const other = `${galleryId}-other`;
    await client.galleries.create(other);
    const [embedding] = randomVectors(1, 1);
    const template = { embedding: embedding!, model };
    await client.galleries.enrolFace(galleryId, "17", template, { faceId: "a", displayName: "Ann" });
    const expireTime = new Date(Date.now() + 86_400_000);
    await client.galleries.enrolFace(other, "17", template, { faceId: "b", expireTime });
    const day = expireTime.toISOString().slice(0, 10);
    expect((await run(["person", "show", "17"])).stdout).toMatch(
      new RegExp(`^${galleryId} +Ann +1 +20\\S+ +never\n${other} +1 +20\\S+ +${day}$`, "m"),
    );
    const shown = JSON.parse((await run(["person", "show", "17", "--gallery", other, "--json"])).stdout);
    expect(shown).toMatchObject([{ galleryId: other, faces: [{ faceId: "b" }] }]);
    expect(shown[0].faces[0]).not.toHaveProperty("template");
    const exported = await run(["person", "export", "17", "--output", "17.json"]);
    expect(exported).toEqual({ code: 0, stdout: "", stderr: "Wrote 17.json\n" });
    expect(statSync("17.json").mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync("17.json", "utf8"))).toMatchObject({
      exportTime: expect.any(String),
      galleries: [
        { galleryId, faces: [{ faceId: "a", embedding: { values: [...embedding!], model } }] },
        { galleryId: other, expireTime: expireTime.toISOString(), faces: [{}] },
      ],
    });
    expect(await run(["person", "delete", "17"])).toMatchObject({ code: 2 });
    const deleted = await run(["person", "delete", "17", "--yes", "--receipt", "receipt.json"]);
    expect(deleted).toMatchObject({ code: 0, stderr: "" });
    const receipt = JSON.parse(readFileSync("receipt.json", "utf8"));
    expect(receipt).toMatchObject({ personId: "17", deletions: [{ galleryId }, { galleryId: other }] });
    expect(deleted.stdout).toBe(
      [
        `Deleted 17 with 1 face from ${galleryId}.`,
        `Deleted 17 with 1 face from ${other}.`,
        `Time ${receipt.deleteTime}, request ${receipt.requestId}`,
        "",
      ].join("\n"),
    );
    expect(await run(["person", "delete", "17", "--yes"])).toMatchObject({ code: 1 });
  });
});

describe("visage galleries", () => {
  test("take how long people and galleries are kept", async () => {
    const id = `${galleryId}-x`;
    const { stdout } = await run(["create", id, "--expires", "2099-01-31", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ expireTime: "2099-01-31T00:00:00.000Z" });
    mkdirSync("kept/p", { recursive: true });
    writeFileSync("kept/p/1.jpg", photograph(3));
    await run(["enrol", id, "kept", "--ids", "--expires", "90d"]);
    const daysLeft = async () => {
      const { expireTime } = await client.galleries.getPerson(id, "p");
      return expireTime && Math.round((expireTime.getTime() - Date.now()) / 86_400_000);
    };
    expect(await daysLeft()).toBe(90);
    await run(["export", id, "--output", "kept.jsonl"]);
    await run(["import", id, "kept.jsonl", "--expires", "never"]);
    expect(await daysLeft()).toBeUndefined();
    await run(["import", id, "kept.jsonl"]);
    expect(await daysLeft()).toBe(90);
    expect((await run(["show", id, "--people"])).stdout).toMatch(/^p +1 +20\S+ +20/m);
    expect(await run(["create", "y", "--expires", "soon"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("such as 90d, or never"),
    });
  });
});

describe("visage galleries enrol", () => {
  test("enrols a folder once, and a repeated run sends nothing", async () => {
    const first = await run(["enrol", galleryId, "people"]);
    expect(first).toEqual({
      code: 0,
      stdout: `${galleryId}: ${photoCount} faces enrolled, 0 enrolled before, 0 photos failed\n`,
      stderr: "",
    });
    const { revision } = await client.galleries.get(galleryId);
    expect(revision).toBe(photoCount);
    expect((await run(["show", galleryId, "--people"])).stdout).toMatch(/^[\da-f]{16} +Ann Müller +2 +20/m);
    const again = await run(["enrol", galleryId, "people"]);
    expect(again.stdout).toBe(
      `${galleryId}: 0 faces enrolled, ${photoCount} enrolled before, 0 photos failed\n`,
    );
    expect(await client.galleries.get(galleryId)).toMatchObject({ revision });
  });

  test("killed at any point and repeated, gives the same gallery", async () => {
    await run(["enrol", galleryId, "people"]);
    const expected = await namesAndFacesOf(galleryId);
    const killed = `${galleryId}-killed`;
    await client.galleries.create(killed);
    for (const responses of [3, 10]) {
      const { port, stalled } = await startStallingProxy(responses);
      const child = start(["enrol", killed, "people"], port);
      await stalled;
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    const { faceCount } = await client.galleries.get(killed);
    expect(faceCount).toBeGreaterThan(0);
    expect(faceCount).toBeLessThan(photoCount);
    expect(await run(["enrol", killed, "people"])).toMatchObject({ code: 0 });
    expect(await namesAndFacesOf(killed)).toEqual(expected);
  });

  test("does not change the name of a person who was renamed", async () => {
    await run(["enrol", galleryId, "people"]);
    const [first] = await contentOf(galleryId);
    await client.galleries.updatePerson(galleryId, first!.personId, { displayName: "Ann" });
    await client.galleries.deleteFace(galleryId, first!.personId, first!.faceId);
    expect((await run(["enrol", galleryId, "people"])).stdout).toContain(": 1 face enrolled, ");
    expect(await client.galleries.getPerson(galleryId, first!.personId)).toMatchObject({
      displayName: "Ann",
      faces: [{}, {}],
    });
  });

  test("reports photos that cannot be enrolled, and enrols the others", async () => {
    for (const name of ["mixed/good", "mixed/bad", "mixed/nobody"]) mkdirSync(name, { recursive: true });
    writeFileSync("mixed/good/1.jpg", photograph(3));
    writeFileSync("mixed/good/same.jpg", photograph(3));
    writeFileSync("mixed/bad/cut.jpg", photograph(3).subarray(0, 10_000));
    writeFileSync("mixed/bad/empty.png", "");
    writeFileSync("mixed/bad/grey.png", await plainImage(300, 300, "#808080"));
    writeFileSync("mixed/stray.jpg", photograph(3));
    expect(await run(["enrol", galleryId, "mixed"])).toEqual({
      code: 1,
      stdout: `${galleryId}: 1 face enrolled, 1 enrolled before, 5 photos failed\n`,
      stderr: [
        "visage: mixed/stray.jpg: is in no folder of a person",
        "visage: mixed/bad/cut.jpg: The image is damaged or incomplete and cannot be read.",
        "visage: mixed/bad/empty.png: The image is empty.",
        "visage: mixed/bad/grey.png: No face was found in the image.",
        "visage: mixed/nobody: has no photos (.jpg, .jpeg, .png)",
        "",
      ].join("\n"),
    });
  });

  test("reports photos that seem to be of somebody else, and enrols them on request", async () => {
    mkdirSync("mistaken/Ann", { recursive: true });
    const crops = [
      cropPhotograph(1, growBox(FACES[1][2]!, 1.4)),
      cropPhotograph(3, growBox(FACES[3][0]!, 1.4)),
    ];
    for (const [i, crop] of crops.entries())
      writeFileSync(`mistaken/Ann/${i}.jpg`, await crop.jpeg().toBuffer());
    const { code, stdout, stderr } = await run(["enrol", galleryId, "mistaken"]);
    expect([code, stdout]).toEqual([1, expect.stringContaining(": 1 face enrolled, 0 enrolled before, 1 ")]);
    expect(stderr).toMatch(
      /^visage: mistaken\/Ann\/1\.jpg: The face does not look like .* The distance to .* is 0\.\d\d\.\n$/,
    );
    const anyway = await run(["enrol", galleryId, "mistaken", "--skip-person-check"]);
    expect(anyway.stdout).toContain(": 1 face enrolled, 1 enrolled before, 0 photos failed");

    const { key } = await client.account.createKey({ scopes: ["read", "enrol"] });
    await client.galleries.create(`${galleryId}-unchecked`);
    const unchecked = await run(["enrol", `${galleryId}-unchecked`, "mistaken"], { key });
    expect(unchecked.stdout).toContain(": 2 faces enrolled, 0 enrolled before, 0 photos failed");
  });

  test("enrols the first photos of a person who has more than the service takes", async () => {
    mkdirSync("full/p", { recursive: true });
    const { sample, box } = ALL_FACES[8]!;
    for (let i = 0; i < 22; i++) {
      const name = `full/p/${String(i).padStart(2, "0")}.jpg`;
      const photo = cropPhotograph(sample, growBox(box, 1.3)).jpeg({ quality: 70 + i });
      writeFileSync(name, await photo.toBuffer());
    }
    const { code, stderr, stdout } = await run(["enrol", galleryId, "full"]);
    expect(stdout).toBe(`${galleryId}: 20 faces enrolled, 0 enrolled before, 2 photos failed\n`);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^visage: full\/p\/20\.jpg: .* 20 faces.*\nvisage: full\/p\/21\.jpg: .*\n$/);
    expect((await run(["enrol", galleryId, "full"])).stdout).toContain(": 0 faces enrolled, 20 enrolled");
  });

  test("ends when the plan allows no more faces, and can be repeated", async () => {
    const options = { key: SMALL_USER };
    await run(["create", "small"], options);
    const { code, stdout, stderr } = await run(["enrol", "small", "people"], options);
    expect([code, stderr]).toEqual([1, "visage: The plan allows 3 faces in a gallery.\n"]);
    expect(stdout).toMatch(/^small: \d faces? enrolled, .*; repeat the command to continue\n$/);
  });

  test("ends when it is interrupted, and tells how to continue", async () => {
    const { port, stalled } = await startStallingProxy(5);
    const controller = new AbortController();
    const stdout = new TextOutput();
    const context = { stdout, interruptSignal: () => controller.signal };
    const running = run(["enrol", galleryId, "people"], { port, context });
    await stalled;
    controller.abort(new Interruption(130));
    expect(await running).toMatchObject({ code: 130, stderr: "visage: Interrupted\n" });
    expect(stdout.text).toMatch(/ photos failed; repeat the command to continue\n$/);
    expect(await run(["enrol", galleryId, "people"])).toMatchObject({ code: 0 });
    expect(await client.galleries.get(galleryId)).toMatchObject({ faceCount: photoCount });
  });

  test("fails for a folder without people, and for a gallery that does not exist", async () => {
    expect(await run(["enrol", galleryId, "people/p1/more"])).toMatchObject({
      code: 1,
      stderr: "visage: people/p1/more: has no folders of people\n",
    });
    expect(await run(["enrol", "none", "people"])).toMatchObject({
      code: 1,
      stderr: "visage: There is no gallery none.\n",
    });
  });
});

describe("visage galleries identify", () => {
  beforeEach(async () => {
    await client.galleries.enrolFace(galleryId, "left", photograph(3), {
      box: FACES[3][0],
      displayName: "Le\u001bft",
    });
    writeFileSync("three.jpg", photograph(3));
  });

  test("prints a table for each photo, in which a stranger is unknown", async () => {
    const { code, stdout, stderr } = await run(["identify", galleryId, "three.jpg", "people/p9/one.jpg"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n").map((line) => line.replaceAll(/\d+,\d+,\d+,\d+/g, "BOX"))).toEqual([
      "three.jpg  3 faces",
      expect.stringMatching(/^ {2}# +rectangle +person +name +distance +threshold +population$/),
      expect.stringMatching(/^ {2}1 +BOX +unknown +0\.\d{3} +(wo)?men 20 to 59$/),
      expect.stringMatching(/^ {2}2 +BOX +(unknown|left +Le\?ft +0\.\d{2}) +0\.\d{3} +women 20 to 59$/),
      expect.stringMatching(/^ {2}3 +BOX +(unknown|left +Le\?ft +0\.\d{2}) +0\.\d{3} +women 20 to 59$/),
      "people/p9/one.jpg  1 face",
      expect.stringMatching(/^ {2}#/),
      expect.stringMatching(/^ {2}1 +BOX +unknown +0\.\d{3} +(wo)?men 20 to 59$/),
      "",
    ]);
    expect(stdout.match(/Le\?ft/g)).toHaveLength(1);
  });

  test("prints JSON for programs, with the errors of photos", async () => {
    const args = ["identify", galleryId, "none.jpg", "three.jpg", "--max-distance", "0.3"];
    const json = await run([...args, "--json"]);
    const lines = await run([...args, "--jsonl"]);
    expect([json.code, lines.code, json.stderr]).toEqual([1, 1, ""]);
    const entries = JSON.parse(json.stdout) as { faces: { matches: object[] }[] }[];
    expect(lines.stdout).toBe(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    expect(entries).toMatchObject([
      { file: "none.jpg", error: "no such file or directory" },
      { file: "three.jpg", threshold: 0.3, candidatesOnly: false, model, revision: 1, stale: false },
    ]);
    expect(entries[1]!.faces.flatMap(({ matches }) => matches)).toEqual([
      {
        personId: "left",
        displayName: "Le\u001bft",
        faceId: expect.any(String),
        distance: expect.any(Number),
      },
    ]);
  });

  test("fails at once for an option or a gallery that the service rejects", async () => {
    expect(await run(["identify", "none", "three.jpg"])).toMatchObject({ code: 1, stdout: "" });
    expect(await run(["identify", galleryId, "three.jpg", "--max-results", "101"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "visage: The field max_results must be 0 to 100.\n",
    });
  });
});

describe("visage galleries export and import", () => {
  test("copy a gallery, and an import can be repeated", async () => {
    await run(["enrol", galleryId, "people"]);
    const file = `${galleryId}.jsonl`;
    expect(await run(["export", galleryId, "--output", file])).toMatchObject({
      code: 0,
      stderr: `Wrote ${file}\n`,
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await run(["export", galleryId])).stdout).toBe(readFileSync(file, "utf8"));
    const copy = `${galleryId}-copy`;
    await client.galleries.create(copy);
    for (let repeat = 0; repeat < 2; repeat++)
      expect(await run(["import", copy, file])).toEqual({
        code: 0,
        stdout: `${copy}: ${photoCount} faces imported\n`,
        stderr: "",
      });
    expect(await contentOf(copy)).toEqual(await contentOf(galleryId));
  });

  test("an existing file is replaced only by --force", async () => {
    writeFileSync("kept.jsonl", "mine");
    expect(await run(["export", galleryId, "--output", "kept.jsonl"])).toMatchObject({
      code: 1,
      stderr: "visage: kept.jsonl: exists already; replace it by --force\n",
    });
    expect(readFileSync("kept.jsonl", "utf8")).toBe("mine");
    expect(await run(["export", galleryId, "--output", "kept.jsonl", "--force"])).toMatchObject({ code: 0 });
    expect(readFileSync("kept.jsonl", "utf8")).toBe("");
  });

  test("an export creates missing folders, and replaces neither a folder nor a link", async () => {
    expect(await run(["export", galleryId, "--output", "new/folder/x"])).toMatchObject({ code: 0 });
    symlinkSync("new/folder/x", "link.jsonl");
    for (const output of ["new/folder", "link.jsonl"])
      expect(await run(["export", galleryId, "--output", output, "--force"])).toMatchObject({
        code: 1,
        stderr: `visage: ${output}: exists and is not a regular file\n`,
      });
  });

  describe("when the export does not end", () => {
    const OUTPUT = "backups";
    beforeEach(async () => {
      await importInvented(300);
      mkdirSync(OUTPUT, { recursive: true });
      onTestFinished(() => rmSync(OUTPUT, { recursive: true }));
    });

    test("a lost connection leaves no file", async () => {
      let frames = 0;
      const port = await startLossyProxy(service.port, (type) =>
        type === FRAME.data && ++frames > 2 ? "cut" : "pass",
      );
      const { code, stderr } = await run(["export", galleryId, "--output", join(OUTPUT, "x")], { port });
      expect([code, stderr]).toEqual([1, expect.stringContaining(`visage: http://127.0.0.1:${port}: `)]);
      expect(readdirSync(OUTPUT)).toEqual([]);
    });

    test.each(["SIGKILL", "SIGINT"] as const)("%s leaves no half file", async (signal) => {
      const { port, stalled } = await startStallingProxy(3);
      const file = join(OUTPUT, "x");
      const child = start(["export", galleryId, "--output", file], port);
      const partial = () => readdirSync(OUTPUT).some((name) => name.endsWith(".partial"));
      await expect.poll(partial, SOON).toBe(true);
      await stalled;
      child.kill(signal);
      const [code] = await once(child, "exit");
      expect(code).toBe(signal === "SIGINT" ? 130 : null);
      expect(existsSync(file)).toBe(false);
      if (signal === "SIGINT") expect(readdirSync(OUTPUT)).toEqual([]);
      expect(await run(["export", galleryId, "--output", file])).toMatchObject({ code: 0 });
      expect(readFileSync(file, "utf8").split("\n")).toHaveLength(301);
    });
  });

  test("an import names the lines that are wrong", async () => {
    await importInvented(2);
    const { stdout } = await run(["export", galleryId]);
    writeFileSync("broken.jsonl", `${stdout}\n{"personId":"x"}\n`);
    expect(await run(["import", galleryId, "broken.jsonl"])).toMatchObject({
      code: 1,
      stderr: "visage: broken.jsonl: line 4 is not a face as export writes it\n",
    });
    const [first, second] = stdout.split("\n") as [string, string];
    writeFileSync("foreign.jsonl", `${first}\n\n${second.replace(model, "another")}\n`);
    expect(await run(["import", galleryId, "foreign.jsonl"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^visage: foreign.jsonl: line 3: The embedding .* "another"/),
    });
    const same = JSON.parse(first) as object;
    const many = Array.from({ length: 21 }, (_, i) => JSON.stringify({ ...same, faceId: `f${i}` }));
    writeFileSync("many-of-one.jsonl", many.join("\n"));
    expect(await run(["import", galleryId, "many-of-one.jsonl"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^visage: many-of-one.jsonl: lines 1 to 21: The person .* 20 faces\.\n$/),
    });
    expect(await run(["import", galleryId, "none.jsonl"])).toMatchObject({
      code: 1,
      stderr: "visage: none.jsonl: no such file or directory\n",
    });
  });

  test("an import shows its progress on a terminal, and ends when it is interrupted", async () => {
    await importInvented(600);
    writeFileSync("many.jsonl", (await run(["export", galleryId])).stdout);
    // The first response is that about the gallery.
    const { port } = await startStallingProxy(1);
    const controller = new AbortController();
    const stderr = new TextOutput({ isTTY: true });
    const context = { stderr, interruptSignal: () => controller.signal };
    const running = run(["import", galleryId, "many.jsonl"], { port, context });
    await expect.poll(() => stderr.text, SOON).toContain("  0 of 600  ");
    controller.abort(new Interruption(130));
    expect(await running).toMatchObject({ code: 130, stdout: "" });
  });
});

describe("visage galleries delete", () => {
  beforeEach(() => importInvented(3));

  test("deletes people, and reports those who do not exist", async () => {
    expect(await run(["delete", galleryId, "p0", "nobody", "p2", "--yes"])).toEqual({
      code: 1,
      stdout: "Deleted p0.\nDeleted p2.\n",
      stderr: "visage: There is no person nobody in the gallery.\n",
    });
    expect(await client.galleries.get(galleryId)).toMatchObject({ peopleCount: 1 });
  });

  test("without a terminal needs --yes", async () => {
    expect(await run(["delete", galleryId])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Option '--yes' is required without a terminal"),
    });
    expect(await client.galleries.get(galleryId)).toMatchObject({ peopleCount: 3 });
  });

  test.each([
    ["y\n", ["p1"], 2],
    ["n\n", ["p1"], 3],
    ["", [], 3],
    ["yes\n", [], undefined],
  ])("on a terminal asks for confirmation: %j", async (answer, people, left) => {
    const stdin = Object.assign(Readable.from(answer ? [answer] : []), { isTTY: true });
    const { code, stderr } = await run(["delete", galleryId, ...people], { context: { stdin } });
    const what = people[0] ? "p1 of the gallery" : `the gallery ${galleryId} with 3 people and 3 faces?`;
    expect([code, stderr]).toEqual([0, expect.stringContaining(`Delete ${what}`)]);
    const found = await client.galleries.get(galleryId).catch(() => undefined);
    expect(found?.peopleCount).toBe(left);
  });
});
