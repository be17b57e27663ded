import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { RequestObserver, RequestSummary } from "./request-summary.ts";

/** Options of the trace exporter. */
export interface TracesOptions {
  /** URL of an OTLP/HTTP collector. */
  readonly endpoint: string;
  readonly serviceName: string;
}

/** Exports the traces of the service. */
export interface Traces {
  readonly observe: RequestObserver;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

const SUCCESS = "ok";

/**
 * Exports a span for each request, with a child span for each processing stage of each image. The spans are created when
 * the request has finished. The stages of one image run one after the other, so their start times follow from their
 * durations.
 */
export function openTraces({ endpoint, serviceName }: TracesOptions): Traces {
  const exporter = new OTLPTraceExporter({ url: new URL("v1/traces", withSlash(endpoint)).href });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": serviceName }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("visage");
  return {
    observe: (summary) => addSpans(tracer, summary),
    close: () => provider.shutdown(),
  };
}

function withSlash(url: string): string {
  return url.endsWith("/") ? url : `${url}/`;
}

function addSpans(tracer: Tracer, summary: RequestSummary): void {
  const attributes = {
    "visage.request_id": summary.requestId,
    "visage.protocol": summary.protocol,
    "visage.outcome": summary.outcome,
    "visage.image_bytes": summary.imageBytes,
    "visage.faces": [...summary.faces],
    ...(summary.user !== undefined && { "visage.user": summary.user }),
  };
  const options = { kind: SpanKind.SERVER, startTime: summary.startedAtMs, attributes };
  const parent = parentContext(summary);
  const span = tracer.startSpan(summary.operation, options, parent);
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

/** Returns the trace context of the request headers (W3C Trace Context). */
function parentContext({ headers }: RequestSummary): Context {
  return new W3CTraceContextPropagator().extract(ROOT_CONTEXT, headers, {
    get: (carrier, name) => carrier[name],
    keys: Object.keys,
  });
}
