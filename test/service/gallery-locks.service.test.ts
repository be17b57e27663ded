import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { expect, onTestFinished, test } from "vitest";
import { createLog } from "../../src/telemetry/log.ts";
import { createGalleryClient } from "../support/galleries.ts";
import { startTestService, USER } from "../support/service.ts";

test("while another process locks the database file, changes fail with their cause in the log, and all else goes on", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "visage-locked-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const lines: string[] = [];
  const output = { write: (line: string) => void lines.push(line), dropped: 0, flush: async () => {} };
  const service = await startTestService({ VISAGE_DATA_DIR: dataDir }, createLog("info", output));
  onTestFinished(() => service.close());
  const client = createGalleryClient(service, USER);
  const other = new Database(join(dataDir, "accounts.db"));
  other.exec("begin immediate");

  let isSettled = false;
  const creation = client.createGallery({ galleryId: "g" }).finally(() => (isSettled = true));
  const failure = expect(creation).rejects.toThrow("Galleries cannot be reached at the moment.");
  expect((await fetch(`http://127.0.0.1:${service.port}/healthz`)).status).toBe(200);
  expect((await client.listGalleries({})).galleries).toEqual([]);
  expect(isSettled).toBe(false);
  await failure;
  const logged = lines
    .map((line) => JSON.parse(line))
    .find(({ reason }) => reason === "GALLERIES_UNAVAILABLE");
  expect(logged).toMatchObject({
    level: "error",
    operation: "CreateGallery",
    cause: "database is locked",
  });

  other.exec("rollback");
  other.close();
  await client.createGallery({ galleryId: "g" });
});
