import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { expect, onTestFinished, test, vi } from "vitest";
import { createGalleryClient, enrol, identify, testPeople } from "../support/galleries.ts";
import { startTestService, USER } from "../support/service.ts";

const WAIT = { timeout: 20_000 };

/** Starts a service, and returns it with the number of galleries that are in its memory. */
async function start(dataDir: string, readyGalleries: string) {
  const service = await startTestService({
    VISAGE_DATA_DIR: dataDir,
    VISAGE_READY_GALLERIES: readyGalleries,
  });
  let isOpen = true;
  const close = async () => {
    if (isOpen) await service.close();
    isOpen = false;
  };
  onTestFinished(close);
  const galleriesInMemory = async () => {
    const text = await (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text();
    return Number(/^visage_galleries_loaded (\d+)$/m.exec(text)![1]);
  };
  return { close, client: createGalleryClient(service, USER), galleriesInMemory };
}

function searchedGalleries(dataDir: string): string[] {
  const file = new Database(join(dataDir, "accounts.db"));
  const rows = file.prepare("select id from galleries where last_searched_at is not null").all([]);
  file.close();
  return (rows as { id: string }[]).map(({ id }) => id);
}

test("a service with VISAGE_READY_GALLERIES has the galleries in memory that were searched last", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "visage-ready-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const [person] = testPeople(1, 1);
  const first = await start(dataDir, "2");
  for (const galleryId of ["a", "b", "c", "never-searched"]) {
    await first.client.createGallery({ galleryId });
    await enrol(first.client, galleryId, person!);
  }
  for (const galleryId of ["a", "b", "c"]) {
    expect(await identify(first.client, galleryId, person!)).toEqual(["p0"]);
    // That it was searched is stored after the response.
    await vi.waitFor(() => expect(searchedGalleries(dataDir)).toContain(galleryId), WAIT);
  }
  await first.close();

  const second = await start(dataDir, "2");
  expect(await second.galleriesInMemory()).toBe(2);
  expect(await identify(second.client, "a", person!)).toEqual(["p0"]);
  await second.close();
  const third = await start(dataDir, "0");
  expect(await third.galleriesInMemory()).toBe(0);
});
