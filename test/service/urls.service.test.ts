import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { create, type DescMessage, equals, type Message } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  FaceService,
  GetFaceVecRequestSchema,
  GetImageAttrRequestSchema,
  MatchFacesRequestSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { photograph } from "../support/images.ts";
import { createProtocolClients, type Operation } from "../support/protocol-clients.ts";
import { startTestService, USER } from "../support/service.ts";

/** Another server on this machine, by path: a photograph, or what else a URL may lead to. */
const ANSWERS: Readonly<Record<string, RequestListener>> = {
  "/1.jpg": (_, response) => response.end(photograph(1)),
  "/3.jpg": (_, response) => response.end(photograph(3)),
  "/page": (_, response) => response.end("<!doctype html><title>no image</title>"),
  "/missing": (_, response) => response.writeHead(404).end(),
  "/broken": (_, response) => response.writeHead(500).end(),
  "/large": (_, response) => response.writeHead(200, { "content-length": 11 * 1024 * 1024 }).flushHeaders(),
  "/slow": (_, response) => response.writeHead(200).flushHeaders(),
  "/inside": (_, response) => response.writeHead(302, { location: "http://[::1]/1.jpg" }).end(),
};
const images = createServer((request, response) => ANSWERS[request.url!]!(request, response));

let service: RunningService;
let base: string;
beforeAll(async () => {
  images.listen(0, "127.0.0.1");
  await once(images, "listening");
  base = `http://127.0.0.1:${(images.address() as AddressInfo).port}`;
  service = await startTestService({
    VISAGE_FETCH_ALLOW: "127.0.0.1",
    VISAGE_FETCH_TIMEOUT_MS: "700",
  });
});
afterAll(async () => {
  images.closeAllConnections();
  images.close();
  await service.close();
});

const byUrl = (url: string) => ({ source: { case: "url", value: url } as const });
const byBytes = (content: Uint8Array) => ({ source: { case: "content", value: content } as const });

describe("an image by URL", () => {
  const requests: readonly [Operation, () => Message, () => Message][] = [
    [
      "getFaceVec",
      () => create(GetFaceVecRequestSchema, { img: byUrl(`${base}/3.jpg`) }),
      () => create(GetFaceVecRequestSchema, { img: byBytes(photograph(3)) }),
    ],
    [
      "getImageAttr",
      () => create(GetImageAttrRequestSchema, { imageAttr: byUrl(`${base}/3.jpg`) }),
      () => create(GetImageAttrRequestSchema, { imageAttr: byBytes(photograph(3)) }),
    ],
    [
      "matchFaces",
      () => create(MatchFacesRequestSchema, { img1: byUrl(`${base}/1.jpg`), img2: byUrl(`${base}/3.jpg`) }),
      () => create(MatchFacesRequestSchema, { img1: byBytes(photograph(1)), img2: byBytes(photograph(3)) }),
    ],
  ];

  test.each(requests)("is answered like its bytes on every way in: %s", async (operation, url, bytes) => {
    const output: DescMessage = FaceService.method[operation].output;
    const clients = createProtocolClients(service.port, USER);
    const expected = (await clients[0]!.call(operation, bytes())) as { response: Message };
    for (const client of clients) {
      const { response } = (await client.call(operation, url())) as { response: Message };
      expect(equals(output, response, expected.response), client.name).toBe(true);
    }
  });

  test("tells how long it took", async () => {
    const { data } = await askRest({ img: `${base}/3.jpg`, detail: "1" });
    expect(data.detail.milliseconds.fetch).toBeGreaterThan(0);
  });
});

interface Envelope {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  // biome-ignore lint/suspicious/noExplicitAny: what is in it differs by operation, and the test says what it expects.
  readonly data: any;
}

async function askRest(fields: Readonly<Record<string, string>>, path = "/get_face_vec"): Promise<Envelope> {
  const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
    method: "POST",
    headers: { user_id: USER, "content-type": "application/json" },
    body: JSON.stringify(fields),
  });
  return { ...((await response.json()) as Envelope), status: response.status };
}

describe("a URL that leads to no image", () => {
  test.each([
    ["/missing", 422, "2007", "The image URL answered with status 404."],
    ["/broken", 503, "2009", "The image URL answered with status 500."],
    ["/slow", 504, "2008", "The image did not arrive within 700 milliseconds."],
    ["/page", 415, "2004", "The URL does not lead to a JPEG or PNG image."],
    ["/large", 413, "2005", "The image at the URL is larger than 10485760 bytes."],
    ["/inside", 422, "2006", "The image could not be fetched from its URL."],
  ])("%s is told as %i and %s", async (path, status, code, message) => {
    expect(await askRest({ img: base + path })).toMatchObject({ status, code, message });
  });

  test.each(["http://127.0.0.1:1/closed", "http://[::1]/refused"])(
    "%s does not tell what is inside",
    async (url) => {
      expect(await askRest({ img: url })).toMatchObject({
        status: 422,
        code: "2006",
        message: "The image could not be fetched from its URL.",
      });
    },
  );

  test("that is none is the caller's fault", async () => {
    const answer = await askRest({ img: "http://user:secret@example.org/" });
    expect(answer).toMatchObject({ status: 400, code: "2001" });
    expect(answer.message).not.toContain("secret");
  });

  test("is told with the image that it stands for", async () => {
    const request = create(MatchFacesRequestSchema, {
      img1: byUrl(`${base}/1.jpg`),
      img2: byUrl(`${base}/missing`),
    });
    for (const client of createProtocolClients(service.port, USER)) {
      expect(await client.call("matchFaces", request), client.name).toMatchObject({ code: "2007" });
    }
  });
});

test("a caller who leaves takes the fetch along", async () => {
  const gone = new Promise((resolve) =>
    images.once("request", ({ socket }) => socket.once("close", resolve)),
  );
  const leaving = AbortSignal.timeout(200);
  const body = JSON.stringify({ img: `${base}/slow` });
  const headers = { user_id: USER, "content-type": "application/json" };
  const url = `http://127.0.0.1:${service.port}/get_face_vec`;
  await expect(fetch(url, { method: "POST", headers, body, signal: leaving })).rejects.toThrow("timeout");
  const start = performance.now();
  await gone;
  // Well before the fetch's own limit.
  expect(performance.now() - start).toBeLessThan(450);
});

test("the ninth URL that one user has in flight is rejected with 429, over every protocol", async () => {
  const held = Array.from({ length: 8 }, () => askRest({ img: `${base}/slow` }));
  await new Promise((resolve) => setTimeout(resolve, 200));
  const request = create(GetFaceVecRequestSchema, { img: byUrl(`${base}/3.jpg`) });
  const rejected = await Promise.all([
    askRest({ img: `${base}/3.jpg` }),
    ...createProtocolClients(service.port, USER).map((client) => client.call("getFaceVec", request)),
  ]);
  expect(rejected[0]).toMatchObject({
    status: 429,
    data: { reason: "TOO_MANY_IN_FLIGHT", retryable: true },
  });
  for (const answer of rejected) expect(answer).toMatchObject({ code: "4006" });
  for (const answer of await Promise.all(held)) expect(answer).toMatchObject({ code: "2008" });
  expect(await askRest({ img: `${base}/3.jpg` })).toMatchObject({ status: 200 });
});
