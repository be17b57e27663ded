import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { readMetrics } from "../../tools/fuzz/edge/metrics.ts";
import { OPEN_STREAM } from "../support/image-streams.ts";
import { photograph } from "../support/images.ts";
import { type Collector, startCollector } from "../support/otlp.ts";
import { startTestService, USER } from "../support/service.ts";

const STREAM = "visage.v1.analyze_images";
const ITEM = `${STREAM}.item`;
const KEY = "folder/portrait-of-a-person.jpg";

let collector: Collector;
let service: RunningService;
const lines: string[] = [];
beforeAll(async () => {
  collector = await startCollector();
  const log = createLog("debug", {
    write: (line) => void lines.push(line),
    dropped: 0,
    flush: async () => {},
  });
  service = await startTestService({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint }, log);
});
afterAll(() => collector.close());

test("a stream and each of its images have a log line, metrics and a trace, without their content", async () => {
  const image = photograph(3);
  const broken = image.subarray(0, 5_000);
  for (const [i, open] of Object.values(OPEN_STREAM).entries()) {
    const stream = open({ port: service.port, user: USER, headers: { "x-request-id": `stream-${i}` } });
    for (const content of [image, broken, Buffer.from("no image")]) stream.send(KEY, content);
    stream.end();
    expect(await stream.ended).toBe("ok");
  }
  await expect.poll(() => service.status().requestsInFlight).toBe(0);
  const entries = lines.map((line) => JSON.parse(line));
  for (const [i, protocol] of ["grpc", "rest", "rest"].entries()) {
    const ofStream = entries.filter(({ requestId }) => requestId === `stream-${i}`);
    const outcomesOf = (operation: string) =>
      ofStream.filter((entry) => entry.operation === operation).map(({ outcome }) => outcome);
    expect(outcomesOf(STREAM)).toEqual(["ok"]);
    expect(outcomesOf(ITEM).toSorted()).toEqual(["UNREADABLE_IMAGE", "UNSUPPORTED_FORMAT", "ok"]);
    expect(new Set(ofStream.map((entry) => entry.protocol))).toEqual(new Set([protocol]));
  }
  const metrics = await readMetrics(service.metricsPort!);
  const count = (operation: string, outcome: string) =>
    metrics.value("visage_requests_total", { operation, outcome });
  expect([count(STREAM, "ok"), count(ITEM, "ok"), count(ITEM, "UNREADABLE_IMAGE")]).toEqual([3, 3, 3]);
  const text = await (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text();
  // Closing sends the remaining spans.
  await service.close();
  const names = collector.spans.map(({ name }) => name);
  expect(names.filter((name) => name === STREAM)).toHaveLength(3);
  expect(names.filter((name) => name === ITEM)).toHaveLength(9);
  const seen = `${lines.join("")}${text}${JSON.stringify(collector.spans)}`;
  for (const secret of [USER, KEY, "portrait-of-a-person", image.toString("base64").slice(0, 24)])
    expect(seen).not.toContain(secret);
});
