import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  createGalleryClient,
  embeddingSource,
  errorOf,
  MODEL,
  type TestPerson,
  testPeople,
} from "../support/galleries.ts";
import { ADMIN_KEY, startTestService, USER } from "../support/service.ts";

const [ann] = testPeople(1, 1) as [TestPerson];
const enrol = { source: { embedding: { values: ann.values, model: MODEL } } };

/** A data folder with the trial user and the gallery `made`. */
async function createDataDir(): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), "visage-audit-failure-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const writable = await startTestService({ VISAGE_DATA_DIR: dataDir });
  await createGalleryClient(writable, USER).createGallery({ galleryId: "made" });
  await writable.close();
  return dataDir;
}

describe.each(["stop", "continue"] as const)(
  "while the trail cannot be written, with the policy %s",
  (policy) => {
    test("audited operations obey it, and others go on", async () => {
      const failing = await startTestService({
        VISAGE_DATA_DIR: await createDataDir(),
        VISAGE_AUDIT: "/dev/full",
        VISAGE_AUDIT_FAILURE: policy,
        VISAGE_ADMIN_KEY: ADMIN_KEY,
      });
      onTestFinished(() => failing.close());
      const send = async (verb: string, to: string, body?: unknown) => {
        const response = await fetch(`http://127.0.0.1:${failing.port}/v1/${to}`, {
          method: verb,
          headers: { authorization: `Bearer ${to.startsWith("admin/") ? ADMIN_KEY : USER}` },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        return [response.status, ((await response.json()) as { reason?: string }).reason];
      };
      const expected = policy === "stop" ? [503, "AUDIT_UNAVAILABLE"] : [200, undefined];
      expect(await send("POST", "galleries", { galleryId: "g" })).toEqual(expected);
      expect(await send("POST", "galleries/g/people/p/faces", enrol)).toEqual(expected);
      expect(await send("POST", "galleries/g:identify", { source: enrol.source })).toEqual(expected);
      expect(await send("POST", "admin/plans", { name: "large" })).toEqual(expected);
      expect(await send("GET", "galleries/g")).toEqual(
        policy === "stop" ? [404, "GALLERY_NOT_FOUND"] : [200, undefined],
      );
      expect(await send("GET", "admin/plans")).toEqual([200, undefined]);
      expect((await fetch(`http://127.0.0.1:${failing.port}/readyz`)).status).toBe(200);
      const metrics = await (await fetch(`http://127.0.0.1:${failing.metricsPort}/metrics`)).text();
      expect(metrics).toContain("\nvisage_audit_failing 1\n");
    });
  },
);

test("a search whose line cannot be written is not answered", async () => {
  const failing = await startTestService({
    VISAGE_DATA_DIR: await createDataDir(),
    VISAGE_AUDIT: "/dev/full",
  });
  onTestFinished(() => failing.close());
  const search = { galleryId: "made", source: embeddingSource(ann.values) };
  expect(await errorOf(createGalleryClient(failing, USER).identifyFaces(search))).toEqual([
    "Unavailable",
    "AUDIT_UNAVAILABLE",
  ]);
});

test("a file that cannot be opened stops the start", async () => {
  await expect(startTestService({ VISAGE_AUDIT: join(tmpdir(), "no-such-folder", "audit") })).rejects.toThrow(
    "The file of VISAGE_AUDIT cannot be opened: ENOENT",
  );
});

test("a first start that cannot be audited creates no trial user", async () => {
  const settings = { VISAGE_AUDIT: "/dev/full", VISAGE_ADMIN_KEY: ADMIN_KEY };
  await expect(startTestService(settings)).rejects.toThrow("The audit trail cannot be written: ENOSPC");
  const service = await startTestService({ ...settings, VISAGE_AUDIT_FAILURE: "continue" });
  await service.close();
});
