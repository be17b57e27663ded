import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { DEFAULT_MODELS_DIR } from "../../src/model-manifest.ts";
import { photograph } from "../support/images.ts";
import { openSocket, postBytes } from "../support/raw-http.ts";
import { requestFaceVector, startTestService, USER } from "../support/service.ts";

test("a network that is not what was pinned stops the start, by name", async () => {
  const folder = mkdtempSync(join(tmpdir(), "visage-models-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const modelsDir = join(folder, "built");
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
    expect(await requestFaceVector(service)).toBe(200);
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
    expect(await requestFaceVector(service)).toBe(200);
    await vi.waitFor(() => expect([service.pool.busy, service.pool.waiting]).toEqual([0, 0]));
    expect(service.pool.restarts).toBe(0);
  });
});
