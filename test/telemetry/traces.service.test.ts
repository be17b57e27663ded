import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { photograph } from "../support/images.ts";
import { type Collector, startCollector } from "../support/otlp.ts";
import { startTestService, USER } from "../support/service.ts";

let collector: Collector;
beforeAll(async () => {
  collector = await startCollector();
});
afterAll(() => collector.close());

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const PARENT_ID = "b7ad6b7169203331";

test("exports a request as a span of the client's trace, with a child span for each stage", async () => {
  const service = await startTestService({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint });
  const headers = { user_id: USER, traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` };
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${service.port}` });
  const img = { source: { case: "content", value: photograph(3) } as const };
  await createClient(FaceService, transport).getFaceVec({ img }, { headers });
  await fetch(`http://127.0.0.1:${service.port}/match_faces`, { method: "POST", headers });
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
  const attributes = Object.fromEntries(
    grpc.attributes.map(({ key, value }) => [key, Object.values(value)[0]]),
  );
  expect(attributes).toMatchObject({ "visage.protocol": "grpc", "visage.outcome": "ok" });
});
