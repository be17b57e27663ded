import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

let service: RunningService;
beforeAll(async () => {
  // Less than any photograph takes, so that our own limit is always the first to pass.
  service = await startTestService({ VISAGE_REQUEST_TIMEOUT_MS: "5" });
});
afterAll(() => service.close());

const clientOf = () =>
  createClient(FaceService, createGrpcTransport({ baseUrl: `http://127.0.0.1:${service.port}` }));
const request = { img: { source: { case: "content", value: photograph(5) } as const } };

test("our own limit ends a request, however long its caller would wait", async () => {
  const fault = await clientOf()
    .getFaceVec(request, { headers: { user_id: USER }, timeoutMs: 60_000 })
    .catch((error: unknown) => ConnectError.from(error));
  expect(fault).toMatchObject({ code: Code.DeadlineExceeded });

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
