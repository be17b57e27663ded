import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { ExportResultCode, TraceState } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  RandomIdGenerator,
  type SpanExporter,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { Outage } from "./outage.ts";
import type { RequestObserver, RequestSummary } from "./request-summary.ts";
import type { Resource } from "./resource.ts";
import { createSampler, type SamplerSettings } from "./sampler.ts";
import type { TraceContext } from "./trace-context.ts";

/** Options of the trace exporter. */
export interface TracesOptions extends SamplerSettings {
  /** URL of an OTLP/HTTP collector. */
  readonly endpoint: string;
  readonly resource: Resource;
  /** Called for a setting that is ignored. */
  readonly onFault: (fault: string) => void;
  /** Called once when the collector does not accept spans, and once when it accepts them again. */
  readonly onUnreachable: (error: unknown) => void;
  readonly onReachable: () => void;
}

/** Exports the traces of the service. */
export interface Traces {
  readonly observe: RequestObserver;
  /** Sends the remaining spans, unless the collector is too slow or cannot be reached. Never rejects. */
  close(): Promise<void>;
}

const SUCCESS = "ok";

/** How long a collector may delay the end of the process. */
const CLOSE_TIMEOUT_MS = 3_000;

/**
 * Exports a span for each request, with a child span for each processing stage of each image. The spans are created when
 * the request has finished. The stages of one image run one after the other, so their start times follow from their
 * durations.
 */
export function openTraces(options: TracesOptions): Traces {
  const exporter = new OTLPTraceExporter({ url: new URL("v1/traces", withSlash(options.endpoint)).href });
  let newTraceId = "";
  const randomIds = new RandomIdGenerator();
  const provider = new TracerProvider({
    resource: resourceFromAttributes(options.resource),
    sampler: createSampler(options, options.onFault),
    // The log already has the trace id of a request.
    idGenerator: { generateTraceId: () => newTraceId, generateSpanId: () => randomIds.generateSpanId() },
    spanProcessors: [new BatchSpanProcessor({ exporter: watchOutages(exporter, options) })],
  });
  const tracer = provider.getTracer("visage");
  return {
    observe: (summary) => {
      if (!summary.trace) return;
      newTraceId = summary.trace.traceId;
      addSpans(tracer, summary, summary.trace);
    },
    close: async () => {
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
      });
      // A failed export was reported.
      await Promise.race([provider.shutdown().catch(() => {}), timeout]);
      clearTimeout(timer);
    },
  };
}

/** Reports when exports start to fail and when they succeed again. */
function watchOutages(
  exporter: SpanExporter,
  { onUnreachable, onReachable }: Pick<TracesOptions, "onUnreachable" | "onReachable">,
): SpanExporter {
  const outage = new Outage(onUnreachable, onReachable);
  return {
    export: (spans, onResult) =>
      exporter.export(spans, (result) => {
        if (result.code === ExportResultCode.SUCCESS) outage.end();
        else outage.begin(result.error);
        onResult(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}

function withSlash(url: string): string {
  return url.endsWith("/") ? url : `${url}/`;
}

function addSpans(tracer: Tracer, summary: RequestSummary, traceContext: TraceContext): void {
  const attributes = {
    "visage.request_id": summary.requestId,
    "visage.protocol": summary.protocol,
    "visage.outcome": summary.outcome,
    "visage.image_bytes": summary.imageBytes,
    "visage.faces": [...summary.faces],
    ...(summary.user !== undefined && { "visage.user": summary.user }),
  };
  const options = { kind: SpanKind.SERVER, startTime: summary.startedAtMs, attributes };
  const parent = parentContext(traceContext);
  const span = tracer.startSpan(summary.operation, options, parent);
  if (!span.isRecording()) return;
  if (summary.outcome !== SUCCESS) span.setStatus({ code: SpanStatusCode.ERROR, message: summary.outcome });
  addStageSpans(tracer, summary, trace.setSpan(parent, span));
  span.end(summary.startedAtMs + summary.durationMs);
}

function addStageSpans(tracer: Tracer, { stages, startedAtMs }: RequestSummary, parent: Context): void {
  const imageEndMs = new Map<string, number>();
  for (const { image, stage, milliseconds } of stages) {
    const startTime = imageEndMs.get(image) ?? startedAtMs;
    imageEndMs.set(image, startTime + milliseconds);
    const span = tracer.startSpan(stage, { startTime, attributes: { "visage.image": image } }, parent);
    span.end(startTime + milliseconds);
  }
}

function parentContext({ traceId, parent }: TraceContext): Context {
  if (!parent) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId: parent.spanId,
    traceFlags: parent.flags,
    isRemote: true,
    ...(parent.state !== undefined && { traceState: new TraceState(parent.state) }),
  });
}
