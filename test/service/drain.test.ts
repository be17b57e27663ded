import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { PACKAGE_ROOT } from "../../models/manifest.ts";
import { DEFAULT_MODELS_DIR } from "../../models/prepare.ts";
import { photograph } from "../support/images.ts";
import { openSocket, postBytes, readAnswer } from "../support/raw-http.ts";
import { USER } from "../support/service.ts";

let server: ChildProcess;
let exit: Promise<unknown[]>;
let address: string;
let dataDir: string;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "visage-drain-"));
  server = spawn(process.execPath, [join(PACKAGE_ROOT, "dist/src/cli.js"), "serve"], {
    env: {
      VISAGE_MODELS_DIR: DEFAULT_MODELS_DIR,
      VISAGE_DATA_DIR: dataDir,
      VISAGE_TRIAL_USER: USER,
      VISAGE_HOST: "127.0.0.1",
      VISAGE_PORT: "0",
      VISAGE_WORKERS: "1",
      VISAGE_DRAIN_MS: "1500",
      VISAGE_LOG_LEVEL: "off",
    },
    stdio: ["ignore", "pipe", "ignore"],
  });
  exit = once(server, "exit");
  const [said] = await once(server.stdout!, "data");
  address = /http:\S+/.exec(String(said))![0];
});
afterEach(async () => {
  server.kill("SIGKILL");
  await exit;
  rmSync(dataDir, { recursive: true });
});

async function statusOf(path: string): Promise<number> {
  const response = await fetch(address + path, {
    method: path === "/readyz" ? "GET" : "POST",
    headers: { user_id: USER },
  });
  await response.body?.cancel();
  return response.status;
}

test("SIGTERM: not ready at once, work taken for a moment, then refused; what is in hand is finished", async () => {
  const port = Number(new URL(address).port);
  // One who begins to send before the end, and is let in, is answered however late its last byte comes.
  const slow = await openSocket(port);
  const request = postBytes("/get_face_vec", [`user_id: ${USER}`, "content-type: image/x"], Buffer.alloc(10));
  slow.write(request.subarray(0, -1));
  const kept = await openSocket(port);
  kept.write(request.subarray(0, 20));
  await sleep(200);

  server.kill("SIGTERM");
  await sleep(300);
  expect(await statusOf("/readyz")).toBe(503);
  expect(await statusOf("/get_face_vec")).toBe(400);
  await sleep(1500);
  kept.write(request.subarray(20));
  expect(await readAnswer(kept)).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
  await expect(fetch(`${address}/healthz`)).rejects.toThrow();

  slow.write(request.subarray(-1));
  expect((await readAnswer(slow)).status).toBe(400);
  expect(await exit).toEqual([0, null]);
});

test("SIGTERM: a call over HTTP/2 that is in hand is answered, and the session told to go", async () => {
  const transport = createGrpcTransport({ baseUrl: address });
  const image = { source: { case: "content", value: photograph(5) } as const };
  const call = createClient(FaceService, transport).getImageAttr(
    { imageAttr: image },
    { headers: { user_id: USER } },
  );
  await sleep(100);
  server.kill("SIGTERM");
  expect((await call).success).toBe(true);
  expect(await exit).toEqual([0, null]);
});

test("a second signal ends it at once", async () => {
  server.kill("SIGTERM");
  await sleep(200);
  const start = performance.now();
  server.kill("SIGTERM");
  expect(await exit).toEqual([1, null]);
  expect(performance.now() - start).toBeLessThan(1000);
});
