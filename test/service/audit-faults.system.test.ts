// The audit trail on a full disk, with a reader that is gone or slow, and of a service that is killed.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConnectError } from "@connectrpc/connect";
import Database from "libsql";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { readPort } from "../../tools/support/service-process.ts";
import { readAudit } from "../support/audit.ts";
import { canMount, mountDisk } from "../support/disk.ts";
import {
  createGalleryClient,
  embeddingSource,
  enrol,
  errorOf,
  MODEL,
  testPeople,
} from "../support/galleries.ts";
import { requestFaceVector, startTestService, USER } from "../support/service.ts";

const folder = mkdtempSync(join(tmpdir(), "visage-audit-faults-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Starts the service in a process of its own. */
async function spawnService(settings: Readonly<Record<string, string>>) {
  const dataDir = mkdtempSync(join(folder, "data-"));
  const child = spawn(process.execPath, [join(PACKAGE_ROOT, "dist/src/cli/main.js"), "serve"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      VISAGE_HOST: "127.0.0.1",
      VISAGE_PORT: "0",
      VISAGE_METRICS_PORT: "off",
      VISAGE_DATA_DIR: dataDir,
      VISAGE_TRIAL_USER: USER,
      VISAGE_LOG_LEVEL: "off",
      VISAGE_WORKERS: "1",
      ...settings,
    },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const port = (await readPort(child.stdout, /http:\/\/127\.0\.0\.1:(\d+)/))!;
  return { child, dataDir, port };
}

test("every stored face of a service that is killed has a start line", async () => {
  const path = join(folder, "killed.jsonl");
  const { child, dataDir, port } = await spawnService({ VISAGE_AUDIT: path });
  const client = createGalleryClient({ port }, USER);
  await client.createGallery({ galleryId: "g" });
  let stored = 0;
  const enrolAll = (prefix: string) =>
    testPeople(2_000, stored, prefix).reduce(
      (before, person) => before.then(() => enrol(client, "g", person)).then(() => void stored++),
      Promise.resolve(),
    );
  const enrolling = Promise.allSettled(["a", "b", "c", "d"].map(enrolAll));
  await expect.poll(() => stored, { timeout: 20_000 }).toBeGreaterThan(50);
  child.kill("SIGKILL");
  await enrolling;
  const database = new Database(join(dataDir, "accounts.db"));
  onTestFinished(() => void database.close());
  const faces = database.prepare("select person_id from gallery_faces").all([]) as { person_id: string }[];
  expect(faces.length).toBeGreaterThanOrEqual(stored);
  const lines = readAudit(path);
  const peopleOf = (phase: string) =>
    lines.filter((line) => line.phase === phase).flatMap(({ people = [] }) => people);
  const started = new Set(peopleOf("start"));
  expect(faces.filter(({ person_id }) => !started.has(person_id))).toEqual([]);
  // What was answered has its end, too.
  expect(peopleOf("end").length).toBeGreaterThanOrEqual(stored);
});

describe.skipIf(!canMount)("on a full disk", () => {
  test("nothing is stored or found, and the service recovers by itself", async () => {
    const disk = join(folder, "disk");
    mkdirSync(disk);
    mountDisk(disk, "64k");
    const service = await startTestService({ VISAGE_AUDIT: join(disk, "audit.jsonl") });
    onTestFinished(() => service.close());
    const client = createGalleryClient(service, USER);
    const [ann, bob] = testPeople(2, 1);
    await client.createGallery({ galleryId: "g" });
    await enrol(client, "g", ann!);
    expect(() => writeFileSync(join(disk, "ballast"), Buffer.alloc(64 * 1024))).toThrow("ENOSPC");

    const unavailable = ["Unavailable", "AUDIT_UNAVAILABLE"];
    // The last block of the file may have room for a few lines.
    const identify = () => client.identifyFaces({ galleryId: "g", source: embeddingSource(ann!.values) });
    for (let failures = 0; failures < 1; )
      failures += await identify().then(
        () => 0,
        () => 1,
      );
    const before = await client.getGallery({ galleryId: "g" });
    expect(await errorOf(enrol(client, "g", bob!))).toEqual(unavailable);
    expect(await errorOf(identify())).toEqual(unavailable);
    expect(await errorOf(client.deletePerson({ galleryId: "g", personId: ann!.personId }))).toEqual(
      unavailable,
    );
    expect((await client.getGallery({ galleryId: "g" })).gallery).toEqual(before.gallery);
    expect(await requestFaceVector(service)).toBe(200);

    rmSync(join(disk, "ballast"));
    await expect
      .poll(
        () =>
          enrol(client, "g", bob!).then(
            () => "ok",
            () => "failed",
          ),
        { timeout: 10_000 },
      )
      .toBe("ok");
    const text = readFileSync(join(disk, "audit.jsonl"), "utf8");
    expect(text).toContain('"event":"audit gap"');
    expect(text.split("\n").at(-2)).toContain(`"people":["${bob!.personId}"]`);
  });
});

/** Resident memory of a process in MiB. */
function memoryOf({ pid }: ChildProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
}

/** The lines of the audit trail in the output of a service. */
function parseLines(text: string) {
  const lines = text.split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Counts the lines of searches that found people. */
function countSearches(text: string): number {
  return parseLines(text).filter(
    ({ operation, outcome }) => operation === "IdentifyFaces" && outcome === "ok",
  ).length;
}

/** The lines of 2,000 searches have 26 MB. A warm service grew by less than 50 MiB, of which 8 are lines. */
const MAX_GROWTH_MIB = 80;

describe("searches with lines of 13 kB while nobody reads standard output", () => {
  const [probe] = testPeople(1, 7);
  const search = { galleryId: "g", source: embeddingSource(probe!.values), maxResults: 100 };

  /** Starts a service with a gallery of 100 people who all match. */
  async function start(policy: string) {
    const { child, port } = await spawnService({
      VISAGE_AUDIT_FAILURE: policy,
      // On a slow machine, searches would be rejected by the load instead.
      VISAGE_MAX_QUEUE_WAIT_MS: "60000",
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
    const client = createGalleryClient({ port }, USER);
    await client.createGallery({ galleryId: "g" });
    await client.importFaces(
      (async function* () {
        for (let i = 0; i < 100; i++)
          yield {
            galleryId: "g",
            personId: `${i}`.padStart(128, "p"),
            faceId: "f",
            embedding: { values: probe!.values, model: MODEL },
          };
      })(),
    );
    /** Counts the outcomes of searches. */
    const searchAll = async (count: number) => {
      const outcomes: Record<string, number> = {};
      const run = async () => {
        while (count-- > 0) {
          const outcome = await client.identifyFaces(search).then(
            () => "ok",
            (fault: unknown) => ConnectError.from(fault).findDetails(ErrorInfoSchema)[0]!.reason,
          );
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        }
      };
      await Promise.all(Array.from({ length: 20 }, run));
      return outcomes;
    };
    return { child, searchAll, output: () => text };
  }

  test("stop, and those that are answered have lines", async () => {
    const { child, searchAll, output } = await start("stop");
    expect(await searchAll(200)).toEqual({ ok: 200 });
    const before = memoryOf(child);
    child.stdout.pause();
    const { ok = 0, AUDIT_UNAVAILABLE = 0 } = await searchAll(2_000);
    expect(ok + AUDIT_UNAVAILABLE).toBe(2_000);
    // Those whose lines fit into the pipe and its buffers.
    expect(ok).toBeLessThan(200);
    expect(memoryOf(child) - before).toBeLessThan(MAX_GROWTH_MIB);
    child.stdout.resume();
    await expect.poll(output, { timeout: 20_000 }).toContain("audit gap");
    expect(countSearches(output())).toBeGreaterThanOrEqual(200 + ok);
    expect(await searchAll(10)).toEqual({ ok: 10 });
  }, 120_000);

  test("go on with the policy continue, and lines that do not fit into memory are counted", async () => {
    const { child, searchAll, output } = await start("continue");
    expect(await searchAll(200)).toEqual({ ok: 200 });
    const before = memoryOf(child);
    child.stdout.pause();
    expect(await searchAll(2_000)).toEqual({ ok: 2_000 });
    expect(memoryOf(child) - before).toBeLessThan(MAX_GROWTH_MIB);
    child.stdout.resume();
    await expect.poll(output, { timeout: 20_000 }).toContain("audit gap");
    const { lost } = parseLines(output()).find(({ event }) => event === "audit gap")!;
    expect(lost).toBeGreaterThan(0);
    expect(countSearches(output()) + Number(lost)).toBe(2_200);
  }, 120_000);

  test("go on with the policy continue if the reader has left, and the service can end", async () => {
    const { child, searchAll } = await start("continue");
    expect(await searchAll(200)).toEqual({ ok: 200 });
    const before = memoryOf(child);
    child.stdout.destroy();
    expect(await searchAll(2_000)).toEqual({ ok: 2_000 });
    expect(memoryOf(child) - before).toBeLessThan(MAX_GROWTH_MIB);
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([0, null]);
  }, 120_000);
});

describe("a reader of standard output", () => {
  test("that leaves stops audited operations, and nothing else", async () => {
    const { child, port } = await spawnService({});
    const client = createGalleryClient({ port }, USER);
    await client.createGallery({ galleryId: "before" });
    child.stdout.destroy();
    await expect
      .poll(() => errorOf(client.createGallery({ galleryId: `g${Date.now()}` })))
      .toEqual(["Unavailable", "AUDIT_UNAVAILABLE"]);
    expect((await client.listGalleries({})).galleries.map(({ galleryId }) => galleryId)).toContain("before");
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("that does not read stops audited operations until it reads, and gets every line", async () => {
    const { child, port } = await spawnService({});
    const client = createGalleryClient({ port }, USER);
    await client.createGallery({ galleryId: "g" });
    child.stdout.pause();
    const remove = async () =>
      (await errorOf(client.deletePerson({ galleryId: "g", personId: "p".repeat(128) })))[1];
    const reasons: unknown[] = [];
    while (!reasons.includes("AUDIT_UNAVAILABLE"))
      reasons.push(...(await Promise.all(Array.from({ length: 50 }, remove))));

    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
    child.stdout.resume();
    await expect.poll(remove, { timeout: 10_000 }).toBe("PERSON_NOT_FOUND");
    child.kill("SIGINT");
    await once(child, "close");
    const lines = text
      .slice(text.indexOf('{"time"'))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ event }) => event === "audit gap")).toMatchObject([{ lost: 0 }]);
    const ends = lines.filter(({ outcome }) => outcome === "PERSON_NOT_FOUND");
    expect(ends.length).toBeGreaterThan(reasons.filter((reason) => reason === "PERSON_NOT_FOUND").length);
  }, 60_000);
});
