import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

interface Attribute {
  readonly key: string;
  readonly value: Record<string, unknown>;
}

/** A span in the OTLP JSON encoding. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
}

interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
  }[];
}

/** A trace collector on the loopback address. */
export interface Collector {
  readonly endpoint: string;
  readonly spans: readonly ReceivedSpan[];
  /** The attributes of the service that sent the last spans. */
  readonly resource: Record<string, unknown>;
  /** The status of responses, 200 at first; `never` for none. */
  status: number | "never";
  /** The number of requests that were answered. */
  readonly requests: number;
  /** The number of requests without a response whose clients still wait. */
  readonly waiting: number;
  close(): void;
}

/** Starts a collector that receives traces by OTLP/HTTP with JSON. */
export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const waiting = new Set<ServerResponse>();
  const server = createServer(async (request, response) => {
    const { resourceSpans } = (await json(request)) as TraceRequest;
    if (collector.status === "never") {
      waiting.add(response);
      response.once("close", () => waiting.delete(response));
      return;
    }
    if (collector.status === 200) {
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      Object.assign(collector.resource, valuesOf(resourceSpans[0]!.resource.attributes));
    }
    collector.requests++;
    response.writeHead(collector.status, { "content-type": "application/json" }).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const collector = {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    resource: {},
    requests: 0,
    status: 200 as Collector["status"],
    get waiting() {
      return waiting.size;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return collector;
}

/** Returns the values of attributes by key. */
export function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
