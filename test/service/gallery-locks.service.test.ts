import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { expect, onTestFinished, test } from "vitest";
import { createLog } from "../../src/telemetry/log.ts";
import { readAudit } from "../support/audit.ts";
import { createGalleryClient, enrol, errorOf, type TestPerson, testPeople } from "../support/galleries.ts";
import { startTestService, USER } from "../support/service.ts";

/** Starts a service with SQLite whose log is kept. */
async function startLogged(settings: Readonly<Record<string, string>> = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), "visage-locked-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const lines: string[] = [];
  const output = { write: (line: string) => void lines.push(line), dropped: 0, flush: async () => {} };
  const log = createLog("info", output);
  const audit = join(dataDir, "audit.jsonl");
  const service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_AUDIT: audit, ...settings }, log);
  onTestFinished(() => service.close());
  const other = new Database(join(dataDir, "accounts.db"));
  onTestFinished(() => void other.close());
  return { service, other, audit, logged: () => lines.map((line) => JSON.parse(line)) };
}

test("while another process locks the database file, changes fail with their cause in the log, and all else goes on", async () => {
  const { service, other, logged } = await startLogged();
  const client = createGalleryClient(service, USER);
  other.exec("begin immediate");

  let isSettled = false;
  const creation = client.createGallery({ galleryId: "g" }).finally(() => (isSettled = true));
  const failure = expect(creation).rejects.toThrow("Galleries cannot be reached at the moment.");
  expect((await fetch(`http://127.0.0.1:${service.port}/healthz`)).status).toBe(200);
  expect((await client.listGalleries({})).galleries).toEqual([]);
  expect(isSettled).toBe(false);
  await failure;
  expect(logged().find(({ reason }) => reason === "GALLERIES_UNAVAILABLE")).toMatchObject({
    level: "error",
    operation: "CreateGallery",
    cause: "database is locked",
  });

  other.exec("rollback");
  await client.createGallery({ galleryId: "g" });
});

test("while another process reads the database file, deletions are done and logged, and erased when it ends", async () => {
  const adminKey = "an-admin-key-for-tests-of-erasure";
  const { service, other, audit, logged } = await startLogged({ VISAGE_ADMIN_KEY: adminKey });
  const client = createGalleryClient(service, USER);
  const [face, person, replaced, kept] = testPeople(4, 1) as [TestPerson, TestPerson, TestPerson, TestPerson];
  for (const galleryId of ["kept", "deleted"]) {
    await client.createGallery({ galleryId });
    for (const one of [face, person, replaced]) await enrol(client, galleryId, one);
  }
  const callAdmin = (method: string, path: string, body?: object) =>
    fetch(`http://127.0.0.1:${service.port}/v1/admin/users${path}`, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
  const created = await callAdmin("POST", "", { name: "Ann", plan: "unlimited" });
  const { key } = (await created.json()) as { readonly key: string };
  const client2 = createGalleryClient(service, key);
  await client2.createGallery({ galleryId: "g" });
  await enrol(client2, "g", person);

  other.exec("begin");
  expect(other.prepare("select count(*) as count from gallery_faces").all([])).toEqual([{ count: 7 }]);
  await client.deleteFace({ galleryId: "kept", ...face });
  await client.deletePerson({ galleryId: "kept", ...person });
  await client.deleteGallery({ galleryId: "deleted" });
  await enrol(client, "kept", { ...replaced, values: kept.values });
  expect((await callAdmin("DELETE", "/Ann")).status).toBe(200);
  expect(await errorOf(client.deletePerson({ galleryId: "kept", ...person }))).toEqual([
    "NotFound",
    "PERSON_NOT_FOUND",
  ]);
  expect((await client.getGallery({ galleryId: "kept" })).gallery).toMatchObject({ faceCount: 1 });
  const changes = readAudit(audit).filter(({ phase }) => phase === "end");
  expect(
    changes
      .slice(-6)
      .map(({ operation, gallery, people, faces, outcome }) => [operation, gallery, people, faces, outcome]),
  ).toEqual([
    ["DeleteFace", "kept", ["p0"], 1, "ok"],
    ["DeletePerson", "kept", ["p1"], 1, "ok"],
    ["DeleteGallery", "deleted", undefined, 3, "ok"],
    ["EnrolFace", "kept", ["p2"], 1, "ok"],
    ["DeleteUser", undefined, undefined, undefined, "ok"],
    ["DeletePerson", "kept", ["p1"], undefined, "PERSON_NOT_FOUND"],
  ]);

  const erasures = () => logged().filter(({ event }) => String(event).startsWith("erasure"));
  await expect.poll(() => erasures().length, { timeout: 10_000 }).toBe(1);
  expect(erasures()).toMatchObject([{ level: "warn", event: "erasure delayed" }]);
  other.exec("rollback");
  await expect.poll(() => erasures().at(-1).event, { timeout: 10_000 }).toBe("erasure finished");
  expect(erasures()).toHaveLength(2);
});
