import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/database/open-database.ts";
import { openMilvus } from "../../src/galleries/milvus/open-milvus.ts";
import { markOf } from "../../src/galleries/removal-mark.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { runInProcess } from "../support/command-line.ts";
import {
  createGalleryClient,
  enrol,
  identify,
  MODEL,
  type TestPerson,
  testPeople,
} from "../support/galleries.ts";
import { hasMilvus, startMilvus } from "../support/milvus.ts";
import { startTestService, USER } from "../support/service.ts";

const [ann, bob] = testPeople(2, 1) as [TestPerson, TestPerson];
const SAME = "Milvus has the templates of all galleries, and no others.\n";

test.skipIf(!hasMilvus)(
  "reindex finds what Milvus has differently, and mends it while a service runs",
  async () => {
    const milvus = await startMilvus();
    const dataDir = await mkdtemp(join(tmpdir(), "visage-reindex-"));
    const env = { ...milvus.env, VISAGE_DATA_DIR: dataDir };
    const service = await startTestService(env);
    const location = { databaseUrl: undefined, dataDir };
    const database = await openDatabase(location);
    onTestFinished(async () => {
      await service.close();
      await database.close();
      await milvus.remove();
      await rm(dataDir, { recursive: true });
    });
    const reindex = (...args: string[]) => runInProcess(["galleries", "reindex", ...args], env);
    const client = createGalleryClient(service, USER);
    await client.createGallery({ galleryId: "g" });
    await enrol(client, "g", ann);
    await enrol(client, "g", bob);
    expect(await identify(client, "g", ann)).toEqual([ann.personId]);
    expect(await reindex("--check")).toMatchObject({ code: 0, stdout: SAME });

    const [row] = await database.query({ sql: "select key from galleries" });
    const gallery = { key: String(row!.key), model: MODEL };
    const { templates } = openMilvus(milvus.settings, { database, store: createSqlGalleryStore(database) });
    const stranger = { ids: Buffer.from("stranger/1"), embeddings: new Float32Array(128).fill(0.1) };
    const bobs = { ids: Buffer.from(`${bob.personId}/${bob.faceId}`), embeddings: stranger.embeddings };
    const removed = [markOf(gallery.key, ann.personId)];
    await templates.apply(gallery, { removed, added: stranger }, async () => {});
    await templates.apply(gallery, { removed: [], added: bobs }, async () => {});
    const unknown = { key: "unknown", model: MODEL };
    await templates.apply(unknown, { removed: [], added: stranger }, async () => {});
    const { code, stdout } = await reindex("--check");
    expect([code, stdout.split("\n")]).toEqual([
      1,
      [
        `gallery g (${gallery.key}): 1 missing, 1 different, 1 too many`,
        "Milvus has 1 face of unknown galleries",
        "",
      ],
    ]);
    expect(await identify(client, "g", ann)).toEqual([]);

    expect(await reindex()).toMatchObject({ code: 0, stdout: "Wrote the templates of 2 faces.\n" });
    expect(await reindex("--check")).toMatchObject({ code: 0, stdout: SAME });
    expect(await templates.countFaces({ model: MODEL })).toBe(2);
    await expect.poll(() => identify(client, "g", ann).catch(String)).toEqual([ann.personId]);
    expect(await identify(client, "g", bob)).toEqual([bob.personId]);

    const withGraphs = { ...env, VISAGE_MILVUS_INDEX: "HNSW" };
    const check = await runInProcess(["galleries", "reindex", "--check"], withGraphs);
    expect(check.code).toBe(1);
    expect(check.stderr).toContain('has the index FLAT instead of HNSW; run "visage galleries reindex"');
  },
);

test("reindex needs Milvus", async () => {
  const { code, stderr } = await runInProcess(["galleries", "reindex"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("VISAGE_GALLERY_ENGINE must be milvus")]);
});
