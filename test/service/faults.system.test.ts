import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { storedCount } from "../support/accounts.ts";
import { canMount, mountDisk } from "../support/disk.ts";
import { hasPostgres, lockTables, startPostgres } from "../support/postgres.ts";
import { requestFaceVector, startTestService } from "../support/service.ts";

/** Longer than the service waits for a query, and than what it last read of an account counts as fresh. */
const HANGING_MS = 7_000;
/** A query that hangs is given up after this; nobody who is known should wait for one. */
const QUERY_TIMEOUT_MS = 4_000;

test.skipIf(!canMount)("a full disk loses no request and, once it has room again, no count", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "visage-disk-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  mountDisk(dataDir, "2m");
  const service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_LOG_LEVEL: "off" });
  const filler = join(dataDir, "filler");
  try {
    expect(await requestFaceVector(service)).toBe(200);
    expect(() => writeFileSync(filler, Buffer.alloc(4 * 1024 * 1024))).toThrow("ENOSPC");
    for (let i = 0; i < 3; i++) expect(await requestFaceVector(service)).toBe(200);
    const metrics = async () => (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text();
    await expect.poll(metrics).toContain("visage_accounts_available 0");
    rmSync(filler);
    await expect.poll(metrics).toContain("visage_accounts_available 1");
    const store = await openAccountStore({ databaseUrl: undefined, dataDir });
    await expect.poll(() => storedCount(store)).toBe(4);
    await store.close();
  } finally {
    await service.close();
  }
});

test.skipIf(!hasPostgres)(
  "a database that hangs holds up no known user, and gets every count once",
  async () => {
    const postgres = await startPostgres();
    const service = await startTestService({ VISAGE_DATABASE_URL: postgres.url });
    onTestFinished(async () => {
      // Where all goes well it is closed by then.
      await service.close().catch(() => {});
      await postgres.remove();
    });
    const probe = async (path: string) => {
      const port = path === "/metrics" ? service.metricsPort : service.port;
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: response.status, text: await response.text() };
    };
    expect(await requestFaceVector(service)).toBe(200);

    // Reads and writes both come to these; in the order of the writes, or each could wait for the other.
    const unlock = await lockTables(postgres.url, "usage_batches", "users");
    const statuses: number[] = [];
    let longestMs = 0;
    for (const lockedAtMs = performance.now(); performance.now() - lockedAtMs < HANGING_MS; ) {
      const startMs = performance.now();
      statuses.push(await requestFaceVector(service));
      longestMs = Math.max(longestMs, performance.now() - startMs);
    }
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(longestMs).toBeLessThan(QUERY_TIMEOUT_MS);
    expect(await requestFaceVector(service, "stranger")).toBe(503);
    expect(await probe("/healthz")).toMatchObject({ status: 200 });
    expect(await probe("/readyz")).toMatchObject({ status: 200 });
    expect((await probe("/metrics")).text).toContain("visage_accounts_available 0");

    await unlock();
    await expect.poll(() => requestFaceVector(service, "stranger")).toBe(401);
    expect((await probe("/metrics")).text).toContain("visage_accounts_available 1");
    expect(await requestFaceVector(service)).toBe(200);
    await service.close();
    const store = await openAccountStore({ databaseUrl: postgres.url, dataDir: "" });
    expect(await storedCount(store)).toBe(statuses.length + 2);
    await store.close();
  },
);
