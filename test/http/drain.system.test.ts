import { once } from "node:events";
import { connect, constants } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../gen/ts/grpc/health/v1/health_pb.ts";
import { type ServiceProcess, startServiceProcess, USER } from "../../tools/support/service-process.ts";
import { photograph } from "../support/images.ts";
import { openSocket, postBytes, readResponse } from "../support/raw-http.ts";

let service: ServiceProcess;
let address: string;
beforeEach(async () => {
  service = await startServiceProcess({ VISAGE_WORKERS: "1", VISAGE_DRAIN_MS: "4000" });
  address = `http://127.0.0.1:${service.port}`;
});
afterEach(() => service.stop("SIGKILL"));

function terminate(): void {
  process.kill(service.pid, "SIGTERM");
}

async function statusOf(path: string): Promise<number> {
  const response = await fetch(address + path, {
    method: path === "/readyz" ? "GET" : "POST",
    headers: { user_id: USER },
  });
  await response.body?.cancel();
  return response.status;
}

test("SIGTERM: not ready at once, new requests for a moment, then none; requests in flight are finished", async () => {
  // A request that was admitted before is answered, however late its last byte arrives.
  const slow = await openSocket(service.port);
  const request = postBytes("/get_face_vec", [`user_id: ${USER}`, "content-type: image/x"], Buffer.alloc(10));
  slow.write(request.subarray(0, -1));
  const kept = await openSocket(service.port);
  kept.write(request.subarray(0, 20));

  terminate();
  await expect.poll(() => statusOf("/readyz")).toBe(503);
  expect(await statusOf("/get_face_vec")).toBe(400);
  await expect.poll(() => statusOf("/readyz").catch(() => "closed")).toBe("closed");
  kept.write(request.subarray(20));
  expect(await readResponse(kept)).toMatchObject({ status: 503, headers: { "retry-after": "1" } });

  slow.write(request.subarray(-1));
  expect((await readResponse(slow)).status).toBe(400);
  expect(await service.exitCode).toBe(0);
});

test("SIGTERM over HTTP/2: health changes, a call in flight is answered, and connections get GOAWAY", async () => {
  const transport = createGrpcTransport({ baseUrl: address });
  const health = createClient(Health, transport);
  const faces = { service: FaceService.typeName };
  expect((await health.check(faces)).status).toBe(Status.SERVING);
  const idle = connect(address);
  const goaway = once(idle, "goaway");
  const image = { source: { case: "content", value: photograph(5) } as const };
  const call = createClient(FaceService, transport).getImageAttr(
    { imageAttr: image },
    { headers: { user_id: USER } },
  );
  // Handled before it is awaited: it may fail while the health is polled.
  call.catch(() => {});
  await sleep(100);
  terminate();
  await expect.poll(async () => (await health.check(faces)).status).toBe(Status.NOT_SERVING);
  expect((await call).success).toBe(true);
  const [reason] = await goaway;
  expect(reason).toBe(constants.NGHTTP2_NO_ERROR);
  expect(await service.exitCode).toBe(0);
});

test("a second signal ends the process at once", async () => {
  terminate();
  await expect.poll(() => statusOf("/readyz")).toBe(503);
  terminate();
  expect(await service.exitCode).toBe(1);
});
