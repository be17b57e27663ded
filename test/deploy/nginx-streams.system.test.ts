import { request as httpRequest } from "node:http";
import { createInterface } from "node:readline";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { createGalleryClient, MODEL, testPeople } from "../support/galleries.ts";
import { photograph } from "../support/images.ts";
import { type Nginx, startNginx } from "../support/nginx.ts";
import { startTestService, USER } from "../support/service.ts";
import { findTools } from "../support/tools.ts";

const { wanted, paths } = findTools("nginx");
const HEADERS = { "x-api-key": USER };
const MIB = 1024 * 1024;
/** Decoders ignore what follows the end of a JPEG. Five of these exceed the largest request. */
const LARGE = Buffer.concat([photograph(3), Buffer.alloc(9 * MIB)]);
const IMAGES = 5;

describe.skipIf(!wanted)("a stream through nginx", () => {
  let service: RunningService;
  let nginx: Nginx;
  beforeAll(async () => {
    service = await startTestService();
    nginx = await startNginx(paths.nginx, [service.port, service.port]);
  });
  afterAll(async () => {
    await nginx?.stop();
    await service?.close();
  });

  /** Yields the indexes of images; each after the response to the one before. */
  function createSender() {
    let next: () => void = () => {};
    const indexes = async function* () {
      for (let i = 0; i < IMAGES; i++) {
        const answered = new Promise<void>((resolve) => {
          next = resolve;
        });
        yield i;
        await answered;
      }
    };
    return { indexes: indexes(), sendNext: () => next() };
  }

  test("passes each message at once over gRPC, however many there are", async () => {
    const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${nginx.grpcPort}` });
    const { indexes, sendNext } = createSender();
    const requests = async function* () {
      for await (const i of indexes)
        yield { key: `${i}`, request: { image: { source: { case: "content" as const, value: LARGE } } } };
    };
    const keys: string[] = [];
    const responses = createClient(FaceAnalysisService, transport).analyzeImages(requests(), {
      headers: HEADERS,
    });
    for await (const { key, result } of responses) {
      expect(result.case).toBe("response");
      keys.push(key);
      sendNext();
    }
    expect(keys).toEqual(["0", "1", "2", "3", "4"]);
  }, 60_000);

  test("passes an error before the first line", async () => {
    const response = await fetch(`http://127.0.0.1:${nginx.httpPort}/v1/images:analyzeStream`, {
      method: "POST",
      headers: { "x-api-key": "nobody" },
      body: "{}",
    });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ reason: "UNKNOWN_USER" });
  });

  test("passes each line at once, however many there are", async () => {
    const { indexes, sendNext } = createSender();
    const image = LARGE.toString("base64");
    const request = httpRequest({
      host: "127.0.0.1",
      port: nginx.httpPort,
      path: "/v1/images:analyzeStream",
      method: "POST",
      headers: { ...HEADERS, "content-type": "application/x-ndjson" },
    });
    const response = new Promise<NodeJS.ReadableStream>((resolve, reject) =>
      request.once("response", resolve).once("error", reject),
    );
    const send = async () => {
      for await (const i of indexes)
        request.write(`${JSON.stringify({ key: `${i}`, request: { image } })}\n`);
      request.end();
    };
    send().catch((error: Error) => request.destroy(error));
    const keys: string[] = [];
    for await (const line of createInterface({ input: await response })) {
      keys.push(JSON.parse(line).key);
      sendNext();
    }
    expect(keys).toEqual(["0", "1", "2", "3", "4"]);
  }, 60_000);

  test("imports galleries that are larger than the largest request", async () => {
    // A face of 1.5 KB over gRPC and 3.8 KB in JSON.
    const faces = testPeople(22_500, 1).map(({ personId, values }) => ({
      personId,
      displayName: "😀".repeat(256),
      embedding: { values, model: MODEL },
    }));
    const grpc = createGalleryClient({ port: nginx.grpcPort }, USER);
    await grpc.createGallery({ galleryId: "grpc" });
    const messages = async function* () {
      for (const face of faces) yield { galleryId: "grpc", ...face };
    };
    expect((await grpc.importFaces(messages())).faceCount).toBe(22_500);

    await grpc.createGallery({ galleryId: "rest" });
    const lines = faces.slice(0, 10_000).map((face) => `${JSON.stringify(face)}\n`);
    const response = await fetch(`http://127.0.0.1:${nginx.httpPort}/v1/galleries/rest:import`, {
      method: "POST",
      headers: { ...HEADERS, "content-type": "application/x-ndjson" },
      body: new Blob(lines),
    });
    expect([response.status, await response.json()]).toMatchObject([200, { faceCount: 10_000 }]);
    expect(Buffer.byteLength(lines.join(""))).toBeGreaterThan(33 * MIB);
  }, 120_000);
});
