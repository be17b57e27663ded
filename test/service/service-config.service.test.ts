import { readFileSync } from "node:fs";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import {
  type ChannelOptions,
  Client,
  credentials,
  type ServiceError as GrpcError,
  Metadata,
  status,
} from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  FaceService,
  GetFaceVecRequestSchema,
  type GetFaceVecResponse,
  GetFaceVecResponseSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import { FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { FaceError } from "../../src/core/index.ts";
import { ServiceError } from "../../src/service/service-error.ts";
import { QueueError } from "../../src/workers/pool.ts";
import { startEcho } from "../support/echo-service.ts";

const readConfig = (path: string) => readFileSync(new URL(`../../proto/${path}`, import.meta.url), "utf8");
const SERVICE_CONFIG = readConfig("face/v1/face_grpc_service_config.json");
const TYPED_CONFIG = readConfig("visage/v1/face_analysis_grpc_service_config.json");

const MAX_REQUEST_BYTES = 4 * 1024 * 1024;

/** Where a request fails: before its body is read, or in the operation. */
type Place = "admission" | "operation";

/** Starts a service whose first requests fail, one by one, with the given errors. Counts all requests. */
async function startFailing(place: Place, faults: readonly Error[]) {
  const counter = { requests: 0 };
  const failFirst = () => {
    const fault = faults[counter.requests++];
    if (fault) throw fault;
  };
  const echo = await startEcho({
    maxRequestBytes: MAX_REQUEST_BYTES,
    admit: async () => {
      if (place === "admission") failFirst();
    },
    rpc: {
      getFaceVec: () => {
        if (place === "operation") failFirst();
        return { status: "ok" };
      },
    },
    typedRpc: {
      analyzeImage: () => ({ facesFound: 1 }),
      compareFaces: () => ({ model: "echo" }),
      async *analyzeImages() {
        yield { key: "echo" };
      },
    },
  });
  onTestFinished(() => echo.close());
  return { port: echo.port, counter };
}

/** Calls with a grpc-js client that retries as the published service config says. */
function call(
  port: number,
  imageBytes = 10,
  options: ChannelOptions = {},
): Promise<GetFaceVecResponse | GrpcError> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    "grpc.service_config": SERVICE_CONFIG,
    ...options,
  });
  onTestFinished(() => client.close());
  const request = create(GetFaceVecRequestSchema, {
    img: { source: { case: "content", value: new Uint8Array(imageBytes) } },
  });
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      `/${FaceService.typeName}/GetFaceVec`,
      (message) => Buffer.from(toBinary(GetFaceVecRequestSchema, message)),
      (bytes) => fromBinary(GetFaceVecResponseSchema, bytes),
      request,
      new Metadata(),
      (error, response) => resolve(error ?? response!),
    );
  });
}

const SOON = { retryAfterMs: 20 };

/** Calls on galleries that cannot be repeated. */
const ONCE = ["CreateGallery", "ReplaceGallery"];

test("the typed config retries only single calls that are idempotent", () => {
  const { methodConfig } = JSON.parse(TYPED_CONFIG) as {
    methodConfig: { name: { service: string; method: string }[] }[];
  };
  const known = [FaceAnalysisService, AccountService, GalleryService].flatMap((service) => service.methods);
  const names = methodConfig.flatMap(({ name }) => name);
  expect(names.length).toBeGreaterThan(3);
  for (const { service, method } of names) {
    const found = known.find(({ parent, name }) => parent.typeName === service && name === method);
    expect(found?.idempotency, method).toBe(MethodOptions_IdempotencyLevel.IDEMPOTENT);
    expect(found?.methodKind, method).toBe("unary");
  }
  const ofGalleries = names.filter(({ service }) => service === GalleryService.typeName);
  expect(ofGalleries.map(({ method }) => method)).toEqual(
    GalleryService.methods
      .filter(({ name, methodKind }) => methodKind === "unary" && !ONCE.includes(name))
      .map(({ name }) => name),
  );
});

test.each<[string, Place, readonly Error[]]>([
  ["draining", "admission", [new ServiceError("draining", undefined, SOON)]],
  [
    "overloaded twice",
    "admission",
    [new ServiceError("overloaded", undefined, SOON), new ServiceError("overloaded", undefined, SOON)],
  ],
  ["a queue that rejects the job", "operation", [new QueueError("overloaded", "Full.", 20)]],
  ["too many requests in flight", "operation", [new ServiceError("tooManyInFlight", undefined, SOON)]],
  ["accounts that are unavailable", "admission", [new ServiceError("accountsUnavailable", undefined, SOON)]],
])("a gRPC client retries by itself after %s (%s)", async (_, place, faults) => {
  const { port, counter } = await startFailing(place, faults);
  expect(await call(port)).toMatchObject({ status: "ok" });
  expect(counter.requests).toBe(faults.length + 1);
});

test.each<[string, Place, Error, number]>([
  [
    "a quota that is spent for the month",
    "admission",
    new ServiceError("quotaSpent"),
    status.RESOURCE_EXHAUSTED,
  ],
  [
    "a rate limit with a long wait",
    "admission",
    new ServiceError("tooManyRequests", undefined, { retryAfterMs: 86_400_000 }),
    status.RESOURCE_EXHAUSTED,
  ],
  [
    "a request that is too large",
    "operation",
    new ServiceError("requestTooLarge"),
    status.RESOURCE_EXHAUSTED,
  ],
  ["no face", "operation", new FaceError("noFace", "No face."), status.FAILED_PRECONDITION],
  ["an unknown user", "admission", new ServiceError("unknownUser"), status.UNAUTHENTICATED],
  ["an internal error", "operation", new Error("bug"), status.INTERNAL],
])("a gRPC client does not retry after %s (%s)", async (_, place, fault, code) => {
  const { port, counter } = await startFailing(place, [fault, fault, fault, fault]);
  expect(await call(port)).toMatchObject({ code });
  expect(counter.requests).toBe(1);
});

test("a gRPC client gives up after four attempts", async () => {
  const { port, counter } = await startFailing(
    "admission",
    Array.from({ length: 9 }, () => new ServiceError("overloaded", undefined, SOON)),
  );
  expect(await call(port)).toMatchObject({ code: status.UNAVAILABLE });
  expect(counter.requests).toBe(4);
});

test("a large photo is retried only if it fits into the retry buffer", async () => {
  const bytes = 2 * 1024 * 1024;
  const start = () => startFailing("admission", [new ServiceError("draining", undefined, SOON)]);
  const small = await start();
  expect(await call(small.port, bytes)).toMatchObject({ code: status.UNAVAILABLE });
  const large = await start();
  const options = { "grpc.per_rpc_retry_buffer_size": 2 * bytes };
  expect(await call(large.port, bytes, options)).toMatchObject({ status: "ok" });
  expect([small.counter.requests, large.counter.requests]).toEqual([1, 2]);
});

test("a request beyond the size limit is sent once", async () => {
  const { port, counter } = await startFailing("admission", []);
  expect(
    await call(port, 2 * MAX_REQUEST_BYTES, { "grpc.per_rpc_retry_buffer_size": 4 * MAX_REQUEST_BYTES }),
  ).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  expect(counter.requests).toBe(1);
});

test.each([
  ["application/proto", new Uint8Array(), 503],
  ["application/grpc-web+proto", new Uint8Array(5), 200],
])("a client of %s is told when to retry, too", async (type, body, httpStatus) => {
  const { port } = await startFailing("operation", [new QueueError("overloaded", "Full.", 2_500)]);
  const response = await fetch(`http://127.0.0.1:${port}/${FaceService.typeName}/GetFaceVec`, {
    method: "POST",
    headers: { "content-type": type },
    body,
  });
  await response.body?.cancel();
  expect([response.status, response.headers.get("retry-after")]).toEqual([httpStatus, "3"]);
  expect(response.headers.get("grpc-retry-pushback-ms")).toBe("2500");
});

describe("a gRPC client of the typed API", () => {
  const draining = [new ServiceError("draining", undefined, SOON)];

  /** Opens a grpc-js client that retries as the published service config says. */
  function openTypedClient(port: number): Client {
    const options = { "grpc.service_config": TYPED_CONFIG };
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options);
    onTestFinished(() => client.close());
    return client;
  }

  test.each(["AnalyzeImage", "CompareFaces"])("retries %s by itself", async (method) => {
    const { port, counter } = await startFailing("admission", draining);
    const client = openTypedClient(port);
    const empty = () => Buffer.alloc(0);
    const outcome = await new Promise((resolve) => {
      client.makeUnaryRequest(
        `/${FaceAnalysisService.typeName}/${method}`,
        empty,
        (bytes) => bytes.length,
        undefined,
        new Metadata(),
        (error, response) => resolve(error ?? response),
      );
    });
    expect(outcome).toBeGreaterThan(0);
    expect(counter.requests).toBe(2);
  });

  test("does not retry a stream, whose images it would have to keep", async () => {
    const { port, counter } = await startFailing("admission", draining);
    const path = `/${FaceAnalysisService.typeName}/AnalyzeImages`;
    const stream = openTypedClient(port).makeBidiStreamRequest<Buffer, Buffer>(
      path,
      (bytes) => bytes,
      (bytes) => bytes,
      new Metadata(),
    );
    const error = await new Promise((resolve) => stream.on("error", resolve).resume());
    expect(error).toMatchObject({ code: status.UNAVAILABLE });
    expect(counter.requests).toBe(1);
  });

  test("finds the config in the package", () => {
    const { exports } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    for (const name of ["./service-config.json", "./visage/v1/service-config.json"])
      expect(JSON.parse(readConfig(exports[name].replace("./proto/", "")))).toHaveProperty("methodConfig");
  });
});
