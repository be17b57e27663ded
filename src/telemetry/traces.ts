import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { RequestEnd, RequestObserver } from "./request-end.ts";

/** Where traces go. */
export interface TracesOptions {
  /** Address of a collector that speaks OTLP over HTTP. */
  readonly endpoint: string;
  readonly serviceName: string;
}

/** The traces of one service. */
export interface Traces {
  readonly observe: RequestObserver;
  /** Sends what has not been sent. */
  close(): Promise<void>;
}

const SUCCESS = "ok";

/**
 * Sends a span for each request, and one below it for each step of the work on each image. They are made when
 * the request is over: steps of one image follow each other, so that their times tell when each began.
 */
export function openTraces({ endpoint, serviceName }: TracesOptions): Traces {
  const exporter = new OTLPTraceExporter({ url: new URL("v1/traces", withSlash(endpoint)).href });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": serviceName }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("visage");
  return {
    observe: (end) => addSpans(tracer, end),
    close: () => provider.shutdown(),
  };
}

function withSlash(url: string): string {
  return url.endsWith("/") ? url : `${url}/`;
}

function addSpans(tracer: Tracer, end: RequestEnd): void {
  const attributes = {
    "visage.request_id": end.requestId,
    "visage.wire": end.wire,
    "visage.outcome": end.outcome,
    "visage.image_bytes": end.imageBytes,
    "visage.faces": [...end.faces],
    ...(end.user !== undefined && { "visage.user": end.user }),
  };
  const options = { kind: SpanKind.SERVER, startTime: end.startedAtMs, attributes };
  const parent = contextFrom(end);
  const span = tracer.startSpan(end.operation, options, parent);
  if (end.outcome !== SUCCESS) span.setStatus({ code: SpanStatusCode.ERROR, message: end.outcome });
  addStages(tracer, end, trace.setSpan(parent, span));
  span.end(end.startedAtMs + end.milliseconds);
}

function addStages(tracer: Tracer, { stages, startedAtMs }: RequestEnd, parent: Context): void {
  const imageEndsMs = new Map<string, number>();
  for (const { image, stage, milliseconds } of stages) {
    const startTime = imageEndsMs.get(image) ?? startedAtMs;
    imageEndsMs.set(image, startTime + milliseconds);
    const span = tracer.startSpan(stage, { startTime, attributes: { "visage.image": image } }, parent);
    span.end(startTime + milliseconds);
  }
}

/** The trace that a request belongs to, as its headers tell (W3C). */
function contextFrom({ headers }: RequestEnd): Context {
  return new W3CTraceContextPropagator().extract(ROOT_CONTEXT, headers, {
    get: (carrier, name) => carrier[name],
    keys: Object.keys,
  });
}
