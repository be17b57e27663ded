import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

let service: RunningService;
beforeAll(async () => {
  // Less than any photograph takes, so that every request exceeds it.
  service = await startTestService({ VISAGE_REQUEST_TIMEOUT_MS: "5" });
});
// A worker finishes the current step of a cancelled job before it is idle.
beforeEach(() => expect.poll(() => service.pool.busy).toBe(0));
afterAll(() => service.close());

const createGrpcClient = () =>
  createClient(FaceService, createGrpcTransport({ baseUrl: `http://127.0.0.1:${service.port}` }));
const request = { img: { source: { case: "content", value: photograph(5) } as const } };

test("the timeout of the service ends a request with a longer deadline", async () => {
  const error = await createGrpcClient()
    .getFaceVec(request, { headers: { user_id: USER }, timeoutMs: 60_000 })
    .catch((error: unknown) => ConnectError.from(error));
  expect(error).toMatchObject({ code: Code.DeadlineExceeded });
});

test("the timeout of the service is 504 over plain HTTP", async () => {
  const response = await fetch(`http://127.0.0.1:${service.port}/get_face_vec`, {
    method: "POST",
    headers: { user_id: USER, "content-type": "application/json" },
    body: JSON.stringify({ img: photograph(5).toString("base64") }),
  });
  expect(response.status).toBe(504);
  expect(await response.json()).toMatchObject({ status: "error", code: "5003", success: false });
});

test("a shorter deadline of the client ends a request", async () => {
  const error = await createGrpcClient()
    .getFaceVec(request, { headers: { user_id: USER }, timeoutMs: 1 })
    .catch((error: unknown) => ConnectError.from(error));
  expect(error).toMatchObject({ code: Code.DeadlineExceeded });
});

test("garbage collection does not remove a timeout", async () => {
  const program = `
    import { signalWithTimeout } from "${pathToFileURL(join(PACKAGE_ROOT, "dist/src/service/deadline.js"))}";
    setInterval(gc, 10);
    const controller = new AbortController();
    const wait = () => new Promise((resolve) => {
      signalWithTimeout(controller.signal, 100).addEventListener("abort", ({ target }) => resolve(target.reason.name));
    });
    const names = await Promise.all(Array.from({ length: 100 }, wait));
    console.log(new Set(names));
    process.exit();`;
  const args = ["--expose-gc", "--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  expect(stdout).toContain("Set(1) { 'TimeoutError' }");
});
