import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { DEFAULT_MODELS_DIR } from "../../src/core/index.ts";
import type { RunningService } from "../../src/main.ts";
import { photograph } from "../support/images.ts";
import { openSocket, postBytes } from "../support/raw-http.ts";
import { requestFaceVector, startTestService, USER } from "../support/service.ts";

test("the start fails if the digest of a network is wrong, and names the network", async () => {
  const folder = mkdtempSync(join(tmpdir(), "visage-models-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const modelsDir = join(folder, "built");
  cpSync(DEFAULT_MODELS_DIR, modelsDir, { recursive: true });
  const file = readdirSync(modelsDir).find((name) => /^mesh.*\.onnx$/.test(name))!;
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

  test("serves requests while one address has the maximum number of silent connections", async () => {
    const sockets = await Promise.all(Array.from({ length: 511 }, () => openSocket(service.port)));
    onTestFinished(async () => {
      for (const socket of sockets) socket.destroy();
      await expect.poll(() => service.status().connections.http1).toBeLessThan(10);
    });
    expect(await requestFaceVector(service)).toBe(200);
  });

  test("survives clients that reset the connection in the middle of a request or a response", async () => {
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
    await expect.poll(() => [service.pool.busy, service.pool.waiting]).toEqual([0, 0]);
    expect(service.pool.restarts).toBe(0);
  });
});
