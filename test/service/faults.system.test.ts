import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { openStore } from "../../src/accounts/open-store.ts";
import { openPostgresStore } from "../../src/accounts/postgres-store.ts";
import type { RunningService } from "../../src/main.ts";
import { DEFAULT_MODELS_DIR } from "../../src/model-manifest.ts";
import { storedCount } from "../support/accounts.ts";
import { photograph } from "../support/images.ts";
import { hasPostgres, lockTables, startPostgres } from "../support/postgres.ts";
import { openSocket, postBytes } from "../support/raw-http.ts";
import { startTestService, USER } from "../support/service.ts";

function folderFor(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `visage-${name}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function statusOf({ port }: RunningService, userId = USER): Promise<number> {
  const body = new FormData();
  body.append("img", new Blob([photograph(3).slice()]));
  const headers = { user_id: userId };
  const response = await fetch(`http://127.0.0.1:${port}/get_face_vec`, { method: "POST", headers, body });
  await response.body?.cancel();
  return response.status;
}

test("a network that is not what was pinned stops the start, by name", async () => {
  const modelsDir = join(folderFor("models"), "built");
  cpSync(DEFAULT_MODELS_DIR, modelsDir, { recursive: true });
  const file = readdirSync(modelsDir).find((name) => name.startsWith("mesh"))!;
  const bytes = readFileSync(join(modelsDir, file));
  bytes[bytes.length - 100]! ^= 1;
  writeFileSync(join(modelsDir, file), bytes);
  await expect(startTestService({ VISAGE_MODELS_DIR: modelsDir })).rejects.toThrow(/mesh.*[0-9a-f]{64}/s);
});

describe("a running service", () => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.close());

  test("answers beside as many silent connections as one address may have", async () => {
    const sockets = await Promise.all(Array.from({ length: 511 }, () => openSocket(service.port)));
    onTestFinished(async () => {
      for (const socket of sockets) socket.destroy();
      await vi.waitFor(() => expect(service.status().connections.http1).toBeLessThan(10));
    });
    expect(await statusOf(service)).toBe(200);
  });

  test("goes on when callers break off in the middle of a body or of an answer", async () => {
    const request = postBytes(
      "/get_face_vec",
      [`user_id: ${USER}`],
      `img=${photograph(3).toString("base64url")}`,
    );
    const reset = async (socket: Socket) => {
      socket.resetAndDestroy();
      await once(socket, "close");
    };
    for (const sent of [30, 500, request.length / 2, request.length - 1, request.length]) {
      const socket = await openSocket(service.port);
      socket.write(request.subarray(0, sent));
      await sleep(20);
      await reset(socket);
    }
    expect(await statusOf(service)).toBe(200);
    await vi.waitFor(() => expect([service.pool.busy, service.pool.waiting]).toEqual([0, 0]));
    expect(service.pool.restarts).toBe(0);
  });
});

/** Longer than the service waits for a query, and than what it last read of an account counts as fresh. */
const HANGING_MS = 7_000;
/** A query that hangs is given up after this; nobody who is known should wait for one. */
const QUERY_TIMEOUT_MS = 4_000;

/** Whether a small file system can be made here, which a full disk needs. */
const canMount =
  process.platform === "linux" &&
  process.getuid?.() === 0 &&
  spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;

test.skipIf(!canMount)("a full disk loses no request and, once it has room again, no count", async () => {
  const dataDir = folderFor("disk");
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "none", dataDir]);
  const service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_LOG_LEVEL: "off" });
  const filler = join(dataDir, "filler");
  try {
    expect(await statusOf(service)).toBe(200);
    expect(() => writeFileSync(filler, Buffer.alloc(4 * 1024 * 1024))).toThrow("ENOSPC");
    for (let i = 0; i < 3; i++) expect(await statusOf(service)).toBe(200);
    const metrics = async () => (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text();
    await vi.waitFor(async () => expect(await metrics()).toContain("visage_accounts_available 0"), 5_000);
    rmSync(filler);
    await vi.waitFor(async () => expect(await metrics()).toContain("visage_accounts_available 1"), 5_000);
    const store = await openStore({ databaseUrl: undefined, dataDir });
    await vi.waitFor(async () => expect(await storedCount(store)).toBe(4), { timeout: 10_000 });
    await store.close();
  } finally {
    // The mount keeps the folder in place while the service is closed, which removes what is in it.
    await service.close().catch(() => {});
    execFileSync("umount", ["--lazy", dataDir]);
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
    expect(await statusOf(service)).toBe(200);

    // Reads and writes both come to these; in the order of the writes, or each could wait for the other.
    const unlock = await lockTables(postgres.url, "usage_batches", "users");
    const statuses: number[] = [];
    let longestMs = 0;
    for (const lockedAtMs = performance.now(); performance.now() - lockedAtMs < HANGING_MS; ) {
      const startMs = performance.now();
      statuses.push(await statusOf(service));
      longestMs = Math.max(longestMs, performance.now() - startMs);
    }
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(longestMs).toBeLessThan(QUERY_TIMEOUT_MS);
    expect(await statusOf(service, "stranger")).toBe(503);
    expect(await probe("/healthz")).toMatchObject({ status: 200 });
    expect(await probe("/readyz")).toMatchObject({ status: 200 });
    expect((await probe("/metrics")).text).toContain("visage_accounts_available 0");

    await unlock();
    await vi.waitFor(async () => expect(await statusOf(service, "stranger")).toBe(401), { timeout: 10_000 });
    expect((await probe("/metrics")).text).toContain("visage_accounts_available 1");
    expect(await statusOf(service)).toBe(200);
    await service.close();
    const store = await openPostgresStore(postgres.url);
    expect(await storedCount(store)).toBe(statuses.length + 2);
    await store.close();
  },
);
