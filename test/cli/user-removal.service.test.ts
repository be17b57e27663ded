import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { expect, onTestFinished, test } from "vitest";
import { createSqlStore } from "../../src/accounts/sql-store.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { runInProcess, TextOutput } from "../support/command-line.ts";
import { MODEL, NO_LIMITS, newFace } from "../support/gallery-contract.ts";
import { addUser, createUser } from "../support/store-contract.ts";

test("visage users remove waits until the faces of the user are erased from the file, and says so", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "visage-removal-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const ann = createUser("ann");
  const database = await openDatabase({ databaseUrl: undefined, dataDir });
  await addUser(createSqlStore(database), ann);
  const galleries = createSqlGalleryStore(database);
  await galleries.createGallery(
    ann.id,
    { id: "g", displayName: "", model: MODEL, maxDistance: undefined },
    NO_LIMITS,
  );
  await galleries.enrolFaces(ann.id, "g", MODEL, [newFace("p")], NO_LIMITS);
  await database.close();
  const backup = new Database(join(dataDir, "accounts.db"));
  onTestFinished(() => void backup.close());
  backup.exec("begin");
  expect(backup.prepare("select count(*) as count from gallery_faces").all([])).toEqual([{ count: 1 }]);

  const [stdout, stderr] = [new TextOutput(), new TextOutput()];
  let isEnded = false;
  const removal = runInProcess(
    ["users", "remove", "ann", "--yes"],
    { VISAGE_DATA_DIR: dataDir },
    { stdout, stderr },
  );
  const ended = removal.finally(() => (isEnded = true));
  await expect
    .poll(() => stderr.text, { timeout: 20_000 })
    .toMatch(/not yet erased from the file .* Waiting/);
  await expect.poll(() => stdout.text, { timeout: 20_000 }).toMatch(/^Removed ann/);
  expect(isEnded).toBe(false);
  backup.exec("rollback");
  expect(await ended).toMatchObject({ code: 0 });
});
