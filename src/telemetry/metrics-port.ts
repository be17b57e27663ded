import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Metrics } from "./metrics.ts";

/** A port for the metrics alone. */
export interface MetricsPort {
  readonly port: number;
  close(): Promise<void>;
}

/** Options of a metrics port. */
export interface MetricsPortOptions {
  readonly metrics: Pick<Metrics, "text" | "contentType">;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Gets every error of collecting the metrics. */
  readonly onError: (error: unknown) => void;
}

/** Scrapers are few. Further connections are closed at once. */
const MAX_CONNECTIONS = 16;
/** For the headers, for the whole request, and between two requests on one connection. */
const REQUEST_TIMEOUT_MS = 5_000;
/** How long a client may neither send nor read. */
const STALL_TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 8 * 1024;
const CHECK_INTERVAL_MS = 1_000;

/** Serves the metrics at `/metrics` of a port of their own. Rejects if it cannot listen there. */
export async function openMetricsPort({
  metrics,
  host,
  port,
  onError,
}: MetricsPortOptions): Promise<MetricsPort> {
  const server = createServer(
    {
      headersTimeout: REQUEST_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    (request, response) => {
      answer(request, response).catch((error: unknown) => {
        onError(error);
        if (!response.headersSent) end(response, 500);
        else response.destroy();
      });
    },
  );
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split("?", 1)[0];
    if (path !== "/metrics") return end(response, 404);
    if (request.method !== "GET") return end(response, 405, { allow: "GET" });
    const text = await metrics.text();
    end(response, 200, { "content-type": metrics.contentType }, text);
  }
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(STALL_TIMEOUT_MS);
  server.on("clientError", (_, socket) => socket.destroy());
  server.listen(port, host);
  await once(server, "listening");
  server.on("error", onError);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers, and closes the connection after an error: what follows may be the body of the request. */
function end(
  response: ServerResponse,
  status: number,
  headers: Record<string, string> = {},
  text = "",
): void {
  if (status !== 200) headers.connection = "close";
  response.writeHead(status, headers).end(text);
}
