import { fromBinary } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import { Pool } from "undici";
import {
  Health,
  HealthCheckResponse_ServingStatus,
  HealthCheckResponseSchema,
} from "../../gen/ts/grpc/health/v1/health_pb.ts";

/** One health check. */
export interface Probe {
  readonly protocol: "/healthz" | "gRPC health";
  /** When the check was sent, in milliseconds since 1970. */
  readonly at: number;
  readonly latencyMs: number;
  readonly isHealthy: boolean;
}

const INTERVAL_MS = 100;

/** Checks the health over HTTP and gRPC ten times per second until stopped. */
export function startProbes(port: number): { stop(): Promise<readonly Probe[]> } {
  const http = new Pool(`http://127.0.0.1:${port}`);
  const grpc = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const probes: Promise<Probe>[] = [];
  const sendProbes = () => {
    probes.push(
      probe("/healthz", () => checkHttp(http)),
      probe("gRPC health", () => checkGrpc(grpc)),
    );
  };
  const timer = setInterval(sendProbes, INTERVAL_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      const all = await Promise.all(probes);
      grpc.close();
      await http.destroy();
      return all;
    },
  };
}

async function probe(protocol: Probe["protocol"], check: () => Promise<boolean>): Promise<Probe> {
  const start = performance.now();
  const isHealthy = await check().catch(() => false);
  return { protocol, at: performance.timeOrigin + start, latencyMs: performance.now() - start, isHealthy };
}

async function checkHttp(http: Pool): Promise<boolean> {
  const { statusCode, body } = await http.request({ method: "GET", path: "/healthz" });
  await body.dump();
  return statusCode === 200;
}

function checkGrpc(grpc: Client): Promise<boolean> {
  return new Promise((resolve) => {
    grpc.makeUnaryRequest(
      `/${Health.typeName}/Check`,
      (empty: Buffer) => empty,
      (bytes: Buffer) => fromBinary(HealthCheckResponseSchema, bytes),
      Buffer.alloc(0),
      (error, response) => resolve(!error && response?.status === HealthCheckResponse_ServingStatus.SERVING),
    );
  });
}
