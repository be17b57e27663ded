import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { DEFAULT_MODELS_DIR } from "../../models/prepare.ts";
import { openStore } from "../../src/accounts/open-store.ts";
import type { RunningService } from "../../src/main.ts";
import { storedCount } from "../support/accounts.ts";
import { photograph } from "../support/images.ts";
import { openSocket, postBytes } from "../support/raw-http.ts";
import { startTestService, USER } from "../support/service.ts";

function folderFor(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `visage-${name}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function statusOf({ port }: RunningService): Promise<number> {
  const body = new FormData();
  body.append("img", new Blob([photograph(3).slice()]));
  const headers = { user_id: USER };
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

  test("answers beside a thousand connections that say nothing", async () => {
    const sockets = await Promise.all(Array.from({ length: 1000 }, () => openSocket(service.port)));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
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
    await sleep(1000);
    rmSync(filler);
    const store = await openStore({ databaseUrl: undefined, dataDir });
    await vi.waitFor(async () => expect(await storedCount(store)).toBe(4), { timeout: 10_000 });
    await store.close();
  } finally {
    // The mount keeps the folder in place while the service is closed, which removes what is in it.
    await service.close().catch(() => {});
    execFileSync("umount", ["--lazy", dataDir]);
  }
});
