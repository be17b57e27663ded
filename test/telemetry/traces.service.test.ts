import { hostname } from "node:os";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeEach, expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import type { Environment } from "../../src/config.ts";
import type { RunningService } from "../../src/main.ts";
import { readVersion } from "../../src/package-root.ts";
import { photograph } from "../support/images.ts";
import { captureLog } from "../support/log.ts";
import { type Collector, startCollector, valuesOf } from "../support/otlp.ts";
import { startTestService, USER } from "../support/service.ts";

let collector: Collector;
beforeEach(async () => {
  collector = await startCollector();
  return () => collector.close();
});

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const PARENT_ID = "b7ad6b7169203331";
const SAMPLED = `00-${TRACE_ID}-${PARENT_ID}-01`;
const NOT_SAMPLED = `00-${TRACE_ID}-${PARENT_ID}-00`;

function startTraced(env: Environment = {}, log = captureLog().log): Promise<RunningService> {
  return startTestService({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, ...env }, log);
}

/** Sends a request that is rejected, with or without a traceparent. */
async function send({ port }: RunningService, traceparent?: string): Promise<void> {
  const headers = { user_id: USER, ...(traceparent !== undefined && { traceparent }) };
  const response = await fetch(`http://127.0.0.1:${port}/match_faces`, { method: "POST", headers });
  expect(response.status).toBe(400);
  await response.arrayBuffer();
}

test("exports a request as a span of the client's trace, with a child span for each stage", async () => {
  const service = await startTraced();
  const headers = { user_id: USER, traceparent: SAMPLED };
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${service.port}` });
  const img = { source: { case: "content", value: photograph(3) } as const };
  await createClient(FaceService, transport).getFaceVec({ img }, { headers });
  await send(service, SAMPLED);
  // Closing sends the remaining spans.
  await service.close();

  const { spans } = collector;
  expect(spans.every(({ traceId }) => traceId === TRACE_ID)).toBe(true);
  const requests = spans.filter(({ parentSpanId }) => parentSpanId === PARENT_ID);
  expect(requests.map(({ name }) => name)).toEqual(["get_face_vec", "match_faces"]);
  const [grpc] = requests as [(typeof requests)[0]];
  const stages = spans.filter(({ parentSpanId }) => parentSpanId === grpc.spanId);
  expect(stages.map(({ name }) => name)).toEqual(["queue", "decode", "detect", "mesh", "embed"]);
  for (const { startTimeUnixNano, endTimeUnixNano } of stages) {
    expect(BigInt(startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(grpc.startTimeUnixNano));
    expect(BigInt(endTimeUnixNano)).toBeLessThanOrEqual(BigInt(grpc.endTimeUnixNano));
  }
  expect(valuesOf(grpc.attributes)).toMatchObject({ "visage.protocol": "grpc", "visage.outcome": "ok" });
});

test("respects the attributes and the sampler of the environment", async () => {
  const { log, events } = captureLog();
  const env = {
    OTEL_RESOURCE_ATTRIBUTES: "team=faces",
    OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "0",
  };
  const service = await startTraced(env, log);
  await send(service);
  await send(service, SAMPLED);
  await send(service, NOT_SAMPLED);
  await service.close();
  expect(collector.spans.map(({ parentSpanId }) => parentSpanId)).toEqual([PARENT_ID]);
  expect(collector.resource).toEqual({
    "service.name": "visage",
    "service.version": readVersion(),
    "service.instance.id": hostname(),
    team: "faces",
  });
  expect(events("setting ignored")).toEqual([]);
});

test("warns of settings that it ignores, and stops although the collector fails", async () => {
  const { log, events } = captureLog();
  const env = { OTEL_RESOURCE_ATTRIBUTES: "faces", OTEL_TRACES_SAMPLER: "xray" };
  const service = await startTraced(env, log);
  await send(service);
  collector.status = 500;
  await service.close();
  expect(events("setting ignored")).toMatchObject([
    { level: "warn", cause: expect.stringContaining("OTEL_RESOURCE_ATTRIBUTES") },
    { level: "warn", cause: expect.stringContaining("OTEL_TRACES_SAMPLER") },
  ]);
  expect(events("trace collector unavailable")).toMatchObject([{ level: "error" }]);
});
