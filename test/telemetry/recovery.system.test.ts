import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import {
  createGalleryClient,
  embeddingSource,
  type GalleryClient,
  testPeople,
} from "../support/galleries.ts";
import { type CapturedLog, captureLog } from "../support/log.ts";
import { hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { requestFaceVector, startTestService, USER } from "../support/service.ts";

const WAIT = { timeout: 60_000, interval: 100 };

describe.skipIf(!hasPostgres)("a recovery is logged like the failure", () => {
  let postgres: TestPostgres;
  let service: RunningService;
  let captured: CapturedLog;
  let galleries: GalleryClient;
  const [person] = testPeople(1, 1);
  beforeAll(async () => {
    postgres = await startPostgres();
    captured = captureLog();
    service = await startTestService({ VISAGE_DATABASE_URL: postgres.url }, captured.log);
    galleries = createGalleryClient(service, USER);
    await galleries.createGallery({ galleryId: "staff" });
    const { personId, faceId, values } = person!;
    await galleries.enrolFace({ galleryId: "staff", personId, faceId, source: embeddingSource(values) });
    await identify();
  });
  afterAll(async () => {
    await service?.close();
    await postgres?.remove();
  });

  const identify = () =>
    galleries.identifyFaces({ galleryId: "staff", source: embeddingSource(person!.values) });

  /** The names of these events in the log. */
  const logged = (...names: string[]) => captured.events(...names).map(({ event }) => event);

  test("of a worker", async () => {
    process.kill(service.pool.pids[0]!, "SIGKILL");
    await expect.poll(() => logged("worker lost", "worker replaced"), WAIT).toHaveLength(2);
    expect(logged("worker lost", "worker replaced")).toEqual(["worker lost", "worker replaced"]);
    expect(await requestFaceVector(service)).toBe(200);
  });

  test("of the search process", async () => {
    const events = () => logged("search process lost", "search process replaced");
    process.kill(searchProcessId(), "SIGKILL");
    await expect.poll(events, WAIT).toEqual(["search process lost"]);
    await identify();
    await identify();
    expect(events()).toEqual(["search process lost", "search process replaced"]);
  });

  test("of the database, for accounts and galleries", async () => {
    const accounts = () => new Set(logged("accounts unavailable", "accounts available"));
    const ofGalleries = () => logged("galleries unavailable", "galleries available");
    await postgres.stop();
    for (let i = 0; i < 3; i++)
      await expect(galleries.createGallery({ galleryId: "late" })).rejects.toThrow(/cannot be reached/);
    await expect.poll(accounts, WAIT).toEqual(new Set(["accounts unavailable"]));
    await expect.poll(ofGalleries, WAIT).toEqual(["galleries unavailable"]);

    await postgres.start();
    // A read does not show that changes are possible again.
    await expect
      .poll(() => galleries.getGallery({ galleryId: "staff" }).then(Boolean, () => false), WAIT)
      .toBe(true);
    expect(ofGalleries()).toEqual(["galleries unavailable"]);
    await expect
      .poll(() => galleries.createGallery({ galleryId: "late" }).then(Boolean, () => false), WAIT)
      .toBe(true);
    await expect.poll(ofGalleries, WAIT).toEqual(["galleries unavailable", "galleries available"]);
    await expect
      .poll(async () => {
        await requestFaceVector(service);
        return logged("accounts available");
      }, WAIT)
      .toEqual(["accounts available"]);
    expect(
      captured.events("accounts available", "galleries available").every(({ level }) => level === "info"),
    ).toBe(true);
  });

  /** Finds the search process among the children of this process. */
  function searchProcessId(): number {
    const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").trim();
    return children
      .split(" ")
      .map(Number)
      .find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("search-program"))!;
  }
});
