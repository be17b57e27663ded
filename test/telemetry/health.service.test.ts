import { createServer, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Interceptor } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import {
  type Client,
  type ClientReadableStream,
  type ClientUnaryCall,
  credentials,
  makeClientConstructor,
  type ServiceDefinition,
  type ServiceError,
  status as StatusCode,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { createHealth, type Health } from "../../src/telemetry/health.ts";

interface HealthResponse {
  readonly status: string;
}

/** The client that grpc-js generates from the official proto, with enums as names. */
interface HealthClient extends Client {
  Check(
    request: { service: string },
    done: (error: ServiceError | null, response?: HealthResponse) => void,
  ): ClientUnaryCall;
  Watch(request: { service: string }): ClientReadableStream<HealthResponse>;
  List(
    request: object,
    done: (error: ServiceError | null, response?: { statuses: Record<string, HealthResponse> }) => void,
  ): ClientUnaryCall;
}

const FACES = "face.v1.FaceService";
const PROTO = join(PACKAGE_ROOT, "proto/grpc/health/v1/health.proto");
const definition = loadSync(PROTO, { enums: String })["grpc.health.v1.Health"] as ServiceDefinition;
const GrpcHealth = makeClientConstructor(definition, "Health");

let health: Health;
let server: Http2Server;
let client: HealthClient;
let openStreams: number;

/** Counts the open response streams, to detect handlers that outlive their client. */
const countStreams: Interceptor = (next) => async (request) => {
  const response = await next(request);
  return response.stream ? { ...response, message: counted(response.message) } : response;
};

async function* counted<T>(messages: AsyncIterable<T>) {
  openStreams++;
  try {
    yield* messages;
  } finally {
    openStreams--;
  }
}

beforeEach(async () => {
  openStreams = 0;
  health = createHealth([FACES]);
  server = createServer(connectNodeAdapter({ routes: health.routes, interceptors: [countStreams] }));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  client = new GrpcHealth(`127.0.0.1:${port}`, credentials.createInsecure()) as unknown as HealthClient;
});

// A watch that does not end keeps the server open. The short timeout reports it soon.
afterEach(async () => {
  health.close();
  client.close();
  await new Promise((closed) => server.close(closed));
}, 20_000);

function check(service: string): Promise<string> {
  return new Promise((resolve, reject) => {
    client.Check({ service }, (error, response) => (error ? reject(error) : resolve(response!.status)));
  });
}

function watch(service: string) {
  const call = client.Watch({ service });
  const responses = call[Symbol.asyncIterator]() as AsyncIterator<HealthResponse, undefined>;
  return {
    next: async () => (await responses.next()).value?.status,
    cancel: () => call.cancel(),
  };
}

describe("Check", () => {
  test.each(["", FACES])(
    "of %j returns NOT_SERVING at first, then the status that was set",
    async (service) => {
      expect(health.serving).toBe(false);
      expect(await check(service)).toBe("NOT_SERVING");
      health.setServing(true);
      expect(health.serving).toBe(true);
      expect(await check(service)).toBe("SERVING");
      health.setServing(false);
      expect(await check(service)).toBe("NOT_SERVING");
    },
  );

  test("of an unknown service fails with NOT_FOUND", async () => {
    await expect(check("face.v1.Other")).rejects.toMatchObject({ code: StatusCode.NOT_FOUND });
  });
});

test("List returns the status of every service", async () => {
  health.setServing(true);
  const statuses = await new Promise((resolve, reject) => {
    client.List({}, (error, response) => (error ? reject(error) : resolve(response!.statuses)));
  });
  expect(statuses).toEqual({ "": { status: "SERVING" }, [FACES]: { status: "SERVING" } });
});

describe("Watch", () => {
  test.each(["", FACES])("of %j sends the status immediately and after each change", async (service) => {
    const watching = watch(service);
    expect(await watching.next()).toBe("NOT_SERVING");
    health.setServing(true);
    expect(await watching.next()).toBe("SERVING");
    health.setServing(false);
    expect(await watching.next()).toBe("NOT_SERVING");
  });

  test("does not repeat an unchanged status", async () => {
    const watching = watch(FACES);
    expect(await watching.next()).toBe("NOT_SERVING");
    health.setServing(false);
    await check(FACES);
    health.setServing(true);
    expect(await watching.next()).toBe("SERVING");
  });

  test("of an unknown service sends SERVICE_UNKNOWN and stays open", async () => {
    const watching = watch("face.v1.Other");
    expect(await watching.next()).toBe("SERVICE_UNKNOWN");
    const more = watching.next();
    health.setServing(true);
    await check(FACES);
    expect(openStreams).toBe(1);
    health.close();
    expect(await more).toBeUndefined();
  });

  test("ends on the server when the client cancels", async () => {
    const watches = Array.from({ length: 20 }, () => watch(FACES));
    for (const watching of watches) expect(await watching.next()).toBe("NOT_SERVING");
    expect(openStreams).toBe(20);
    for (const watching of watches) {
      const end = expect(watching.next()).rejects.toMatchObject({ code: StatusCode.CANCELLED });
      watching.cancel();
      await end;
    }
    await expect.poll(() => openStreams).toBe(0);
  });

  test("notifies many watchers without a listener leak warning", async () => {
    const warn = vi.fn();
    process.on("warning", warn);
    const watches = Array.from({ length: 20 }, () => watch(FACES));
    for (const watching of watches) expect(await watching.next()).toBe("NOT_SERVING");
    health.setServing(true);
    for (const watching of watches) expect(await watching.next()).toBe("SERVING");
    process.off("warning", warn);
    expect(warn).not.toHaveBeenCalled();
  });
});

describe("close", () => {
  test("sends NOT_SERVING to every watch, then ends it", async () => {
    health.setServing(true);
    const watches = [watch(""), watch(FACES)];
    for (const watching of watches) expect(await watching.next()).toBe("SERVING");
    health.close();
    for (const watching of watches) {
      expect(await watching.next()).toBe("NOT_SERVING");
      expect(await watching.next()).toBeUndefined();
    }
    expect(openStreams).toBe(0);
  });

  test("is permanent: the status cannot change again, and a new watch ends immediately", async () => {
    health.close();
    health.setServing(true);
    expect(health.serving).toBe(false);
    expect(await check(FACES)).toBe("NOT_SERVING");
    const late = watch(FACES);
    expect(await late.next()).toBe("NOT_SERVING");
    expect(await late.next()).toBeUndefined();
  });
});
