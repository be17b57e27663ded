import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Metrics } from "./metrics.ts";

/** A port for the metrics alone. */
export interface MetricsPort {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves the metrics at `/metrics` of a port of their own, which need not be open to callers. */
export async function openMetricsPort(metrics: Metrics, host: string, port: number): Promise<MetricsPort> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === "/metrics") void answerMetrics(metrics, response);
    else response.writeHead(404).end();
  });
  server.listen(port, host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers with the metrics. */
export async function answerMetrics(metrics: Metrics, response: ServerResponse): Promise<void> {
  const text = await metrics.text();
  response.writeHead(200, { "content-type": metrics.contentType }).end(text);
}
