import { beforeEach, describe, expect, test } from "vitest";
import type { RequestSummary } from "../../src/telemetry/request-summary.ts";
import { createResource } from "../../src/telemetry/resource.ts";
import { traceContextFrom } from "../../src/telemetry/trace-context.ts";
import { openTraces, type Traces, type TracesOptions } from "../../src/telemetry/traces.ts";
import { type Collector, startCollector } from "../support/otlp.ts";

let collector: Collector;
beforeEach(async () => {
  collector = await startCollector();
  return () => collector.close();
});

const PARENT = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";
/** As many spans are exported at once. */
const BATCH_SPANS = 512;

/** Opens the exporter. `reports` gets every callback. */
function open(options: Partial<TracesOptions> = {}): { traces: Traces; reports: string[] } {
  const reports: string[] = [];
  const traces = openTraces({
    endpoint: collector.endpoint,
    resource: createResource({ serviceName: undefined, resourceAttributes: undefined }, "1.2.3"),
    sampler: "parentbased_always_on",
    argument: undefined,
    onFault: (fault) => reports.push(fault),
    onUnreachable: (error) => reports.push(`unreachable: ${error}`),
    onReachable: () => reports.push("reachable"),
    ...options,
  });
  return { traces, reports };
}

function summaryWith(traceparent?: string): RequestSummary {
  return {
    requestId: "1",
    trace: traceContextFrom({ traceparent }, true),
    user: undefined,
    operation: "match_faces",
    protocol: "rest",
    outcome: "BAD_REQUEST",
    startedAtMs: 0,
    durationMs: 1,
    imageBytes: 0,
    faces: [],
    stages: [],
  };
}

describe("sampling", () => {
  /** Observes a request without a parent, one with a sampled one, one with a parent that is not. Returns what is exported. */
  async function exportedBy(traces: Traces): Promise<string> {
    for (const parent of [undefined, `00-${PARENT}-01`, `00-${PARENT}-00`])
      traces.observe(summaryWith(parent));
    await traces.close();
    return collector.spans.map(({ parentSpanId }) => (parentSpanId ? "parent" : "root")).join(" ");
  }

  test.each([
    ["parentbased_always_on", undefined, "root parent"],
    ["parentbased_always_off", undefined, "parent"],
    ["parentbased_traceidratio", "0", "parent"],
    ["parentbased_traceidratio", undefined, "root parent"],
    ["always_on", undefined, "root parent parent"],
    ["always_off", undefined, ""],
    ["traceidratio", "1", "root parent parent"],
    ["traceidratio", "0.0", ""],
  ])("by %s with the argument %s exports: %s", async (sampler, argument, exported) => {
    const { traces, reports } = open({ sampler, argument });
    expect(await exportedBy(traces)).toBe(exported);
    expect(reports).toEqual([]);
  });

  test.each([
    ["jaeger_remote", "1", 'OTEL_TRACES_SAMPLER "jaeger_remote" is not supported'],
    ["parentbased_traceidratio", "2", 'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "2"'],
    ["parentbased_traceidratio", "half", 'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "half"'],
  ])("ignores %s with the argument %s and reports it", async (sampler, argument, fault) => {
    const { traces, reports } = open({ sampler, argument });
    expect(await exportedBy(traces)).toBe("root parent");
    expect(reports).toEqual([fault]);
  });
});

describe("a collector that fails", () => {
  test("is reported once, and its recovery too", async () => {
    const { traces, reports } = open();
    for (const status of [500, 500, 200, 200]) {
      collector.status = status;
      const { requests } = collector;
      for (let i = 0; i < BATCH_SPANS; i++) traces.observe(summaryWith());
      await expect.poll(() => collector.requests).toBe(requests + 1);
    }
    await traces.close();
    expect(reports).toEqual(["unreachable: OTLPExporterError: Internal Server Error", "reachable"]);
    expect(collector.spans).toHaveLength(2 * BATCH_SPANS);
  });

  test("does not fail the shutdown", async () => {
    const { traces, reports } = open();
    traces.observe(summaryWith());
    collector.status = 500;
    await traces.close();
    expect(reports).toHaveLength(1);
  });

  test("does not delay the shutdown until it answers", async () => {
    const { traces } = open();
    traces.observe(summaryWith());
    collector.status = "never";
    await traces.close();
    expect(collector.waiting).toBe(1);
  });
});
