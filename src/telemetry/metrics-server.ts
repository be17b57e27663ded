import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Metrics } from "./metrics.ts";
import { Outage } from "./outage.ts";

/** An HTTP server for the metrics only. */
export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Options of a metrics server. */
export interface MetricsServerOptions {
  readonly metrics: Pick<Metrics, "text" | "contentType">;
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Called once when collecting the metrics fails, and once when it succeeds again. */
  readonly onError: (error: unknown) => void;
  readonly onRecovery: () => void;
}

/** There are few scrapers. Further connections are closed immediately. */
const MAX_CONNECTIONS = 16;
/** Timeout for the headers, for the whole request, and between two requests of a connection. */
const REQUEST_TIMEOUT_MS = 5_000;
/** Timeout of a connection without any traffic. */
const STALL_TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 8 * 1024;
const CHECK_INTERVAL_MS = 1_000;

/** Serves the metrics at `/metrics` on a separate port. Rejects if it cannot listen. */
export async function openMetricsServer({
  metrics,
  host,
  port,
  onError,
  onRecovery,
}: MetricsServerOptions): Promise<MetricsServer> {
  const outage = new Outage(onError, onRecovery);
  const server = createServer(
    {
      headersTimeout: REQUEST_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    (request, response) => {
      respond(request, response).catch((error: unknown) => {
        outage.begin(error);
        if (!response.headersSent) send(response, 500);
        else response.destroy();
      });
    },
  );
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split("?", 1)[0];
    if (path !== "/metrics") return send(response, 404);
    if (request.method !== "GET") return send(response, 405, { allow: "GET" });
    const text = await metrics.text();
    outage.end();
    send(response, 200, { "content-type": metrics.contentType }, text);
  }
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(STALL_TIMEOUT_MS);
  server.on("clientError", (_, socket) => socket.destroy());
  server.listen(port, host);
  await once(server, "listening");
  server.on("error", (error) => outage.begin(error));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Sends a response. Closes the connection after an error, because the request may have an unread body. */
function send(
  response: ServerResponse,
  status: number,
  headers: Record<string, string> = {},
  text = "",
): void {
  if (status !== 200) headers.connection = "close";
  response.writeHead(status, headers).end(text);
}
