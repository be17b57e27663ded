import { fromBinary } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import { Pool } from "undici";
import {
  Health,
  HealthCheckResponse_ServingStatus,
  HealthCheckResponseSchema,
} from "../../gen/ts/health/v1/health_pb.ts";

/** One question after the service's health. */
export interface Probe {
  readonly wire: "/healthz" | "gRPC health";
  /** When it was due, in milliseconds since 1970. */
  readonly at: number;
  readonly tookMs: number;
  readonly well: boolean;
}

const EVERY_MS = 100;

/** Asks for the service's health over both wires ten times a second, until it is stopped. */
export function startProbes(port: number): { stop(): Promise<readonly Probe[]> } {
  const http = new Pool(`http://127.0.0.1:${port}`);
  const grpc = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const probes: Promise<Probe>[] = [];
  const ask = () => {
    probes.push(
      probe("/healthz", () => isWellByHttp(http)),
      probe("gRPC health", () => isWellByGrpc(grpc)),
    );
  };
  const clock = setInterval(ask, EVERY_MS);
  return {
    stop: async () => {
      clearInterval(clock);
      const all = await Promise.all(probes);
      grpc.close();
      await http.destroy();
      return all;
    },
  };
}

async function probe(wire: Probe["wire"], isWell: () => Promise<boolean>): Promise<Probe> {
  const start = performance.now();
  const well = await isWell().catch(() => false);
  return { wire, at: performance.timeOrigin + start, tookMs: performance.now() - start, well };
}

async function isWellByHttp(http: Pool): Promise<boolean> {
  const { statusCode, body } = await http.request({ method: "GET", path: "/healthz" });
  await body.dump();
  return statusCode === 200;
}

function isWellByGrpc(grpc: Client): Promise<boolean> {
  return new Promise((resolve) => {
    grpc.makeUnaryRequest(
      `/${Health.typeName}/Check`,
      (empty: Buffer) => empty,
      (bytes: Buffer) => fromBinary(HealthCheckResponseSchema, bytes),
      Buffer.alloc(0),
      (error, answer) => resolve(!error && answer?.status === HealthCheckResponse_ServingStatus.SERVING),
    );
  });
}
