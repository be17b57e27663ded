import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

let service: RunningService;
beforeAll(async () => {
  // Less than any photograph takes, so that our own limit is always the first to pass.
  service = await startTestService({ VISAGE_REQUEST_TIMEOUT_MS: "5" });
});
// A worker comes to the end of a step before it leaves what took too long, and until then there is a wait.
beforeEach(() => vi.waitFor(() => expect(service.pool.busy).toBe(0)));
afterAll(() => service.close());

const clientOf = () =>
  createClient(FaceService, createGrpcTransport({ baseUrl: `http://127.0.0.1:${service.port}` }));
const request = { img: { source: { case: "content", value: photograph(5) } as const } };

test("our own limit ends a request, however long its caller would wait", async () => {
  const fault = await clientOf()
    .getFaceVec(request, { headers: { user_id: USER }, timeoutMs: 60_000 })
    .catch((error: unknown) => ConnectError.from(error));
  expect(fault).toMatchObject({ code: Code.DeadlineExceeded });
});

test("and says so over plain HTTP", async () => {
  const response = await fetch(`http://127.0.0.1:${service.port}/get_face_vec`, {
    method: "POST",
    headers: { user_id: USER, "content-type": "application/json" },
    body: JSON.stringify({ img: photograph(5).toString("base64") }),
  });
  expect(response.status).toBe(504);
  expect(await response.json()).toMatchObject({ status: "error", code: "5003", success: false });
});

test("a caller's shorter deadline ends it too", async () => {
  const fault = await clientOf()
    .getFaceVec(request, { headers: { user_id: USER }, timeoutMs: 1 })
    .catch((error: unknown) => ConnectError.from(error));
  expect(fault).toMatchObject({ code: Code.DeadlineExceeded });
});

test("a limit of time holds also when memory is cleaned up in between", async () => {
  const program = `
    import { signalWithTimeout } from "${pathToFileURL(join(PACKAGE_ROOT, "dist/src/service/deadline.js"))}";
    setInterval(gc, 10);
    const over = new AbortController();
    const wait = () => new Promise((resolve) => {
      signalWithTimeout(over.signal, 100).addEventListener("abort", ({ target }) => resolve(target.reason.name));
    });
    const names = await Promise.all(Array.from({ length: 100 }, wait));
    console.log(new Set(names));
    process.exit();`;
  const args = ["--expose-gc", "--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 10_000 });
  expect(stdout).toContain("Set(1) { 'TimeoutError' }");
});
