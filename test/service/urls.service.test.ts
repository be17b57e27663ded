import { once } from "node:events";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { create, type DescMessage, equals, type Message } from "@bufbuild/protobuf";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  FaceService,
  GetFaceVecRequestSchema,
  GetImageAttrRequestSchema,
  MatchFacesRequestSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { photograph, smallPortrait } from "../support/images.ts";
import { createProtocolClients, type Operation } from "../support/protocol-clients.ts";
import { startTestService, USER } from "../support/service.ts";

const PORTRAIT = await smallPortrait();
const GROUP = await sharp(photograph(3)).resize({ width: 480 }).jpeg().toBuffer();

/** Longer than a test may take, so that what a test waits for cannot come from a timeout. */
const LONG_MS = "300000";

/** Responses that a test ends. */
const held: ServerResponse[] = [];

/** The responses of the image server by path. */
const RESPONSES: Readonly<Record<string, RequestListener>> = {
  "/portrait.jpg": (_, response) => response.end(PORTRAIT),
  "/group.jpg": (_, response) => response.end(GROUP),
  "/page": (_, response) => response.end("<!doctype html><title>no image</title>"),
  "/missing": (_, response) => response.writeHead(404).end(),
  "/broken": (_, response) => response.writeHead(500).end(),
  "/large": (_, response) => response.writeHead(200, { "content-length": 11 * 1024 * 1024 }).flushHeaders(),
  "/slow": (_, response) => response.writeHead(200).flushHeaders(),
  "/held": (_, response) => void held.push(response),
  "/inside": (_, response) => response.writeHead(302, { location: "http://[::1]/portrait.jpg" }).end(),
};
const images = createServer((request, response) => RESPONSES[request.url!]!(request, response));

let service: RunningService;
let base: string;
beforeAll(async () => {
  images.listen(0, "127.0.0.1");
  await once(images, "listening");
  base = `http://127.0.0.1:${(images.address() as AddressInfo).port}`;
  service = await startTestService({
    VISAGE_FETCH_ALLOW: "127.0.0.1",
    VISAGE_FETCH_TIMEOUT_MS: "2000",
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
      () => create(GetFaceVecRequestSchema, { img: byUrl(`${base}/group.jpg`) }),
      () => create(GetFaceVecRequestSchema, { img: byBytes(GROUP) }),
    ],
    [
      "getImageAttr",
      () => create(GetImageAttrRequestSchema, { imageAttr: byUrl(`${base}/group.jpg`) }),
      () => create(GetImageAttrRequestSchema, { imageAttr: byBytes(GROUP) }),
    ],
    [
      "matchFaces",
      () =>
        create(MatchFacesRequestSchema, {
          img1: byUrl(`${base}/portrait.jpg`),
          img2: byUrl(`${base}/group.jpg`),
        }),
      () => create(MatchFacesRequestSchema, { img1: byBytes(PORTRAIT), img2: byBytes(GROUP) }),
    ],
  ];

  test.each(requests)(
    "gives the same result as its bytes over every protocol: %s",
    async (operation, url, bytes) => {
      const output: DescMessage = FaceService.method[operation].output;
      const clients = createProtocolClients(service.port, USER);
      const expected = (await clients[0]!.call(operation, bytes())) as { response: Message };
      for (const client of clients) {
        const { response } = (await client.call(operation, url())) as { response: Message };
        expect(equals(output, response, expected.response), client.name).toBe(true);
      }
    },
  );

  test("reports the duration of the fetch in detail", async () => {
    const { data } = await sendRest({ img: `${base}/group.jpg`, detail: "1" });
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

async function sendRest(
  fields: Readonly<Record<string, string>>,
  { path = "/get_face_vec", port = service.port } = {},
): Promise<Envelope> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { user_id: USER, "content-type": "application/json" },
    body: JSON.stringify(fields),
  });
  return { ...((await response.json()) as Envelope), status: response.status };
}

describe("an image URL that fails", () => {
  test.each([
    ["/missing", 422, "2007", "The image URL answered with status 404."],
    ["/broken", 503, "2009", "The image URL answered with status 500."],
    ["/slow", 504, "2008", "The image did not arrive within 2000 milliseconds."],
    ["/page", 415, "2004", "The URL does not lead to a JPEG or PNG image."],
    ["/large", 413, "2005", "The image at the URL is larger than 10485760 bytes."],
    ["/inside", 422, "2006", "The image could not be fetched from its URL."],
  ])("%s is reported as %i and %s", async (path, status, code, message) => {
    expect(await sendRest({ img: base + path })).toMatchObject({ status, code, message });
  });

  test.each(["http://127.0.0.1:1/closed", "http://[::1]/refused"])(
    "%s does not reveal the internal network",
    async (url) => {
      expect(await sendRest({ img: url })).toMatchObject({
        status: 422,
        code: "2006",
        message: "The image could not be fetched from its URL.",
      });
    },
  );

  test("with credentials is a bad request", async () => {
    const answer = await sendRest({ img: "http://user:secret@example.org/" });
    expect(answer).toMatchObject({ status: 400, code: "2001" });
    expect(answer.message).not.toContain("secret");
  });

  test("is reported over every protocol", async () => {
    const request = create(MatchFacesRequestSchema, {
      img1: byUrl(`${base}/portrait.jpg`),
      img2: byUrl(`${base}/missing`),
    });
    for (const client of createProtocolClients(service.port, USER)) {
      expect(await client.call("matchFaces", request), client.name).toMatchObject({ code: "2007" });
    }
  });
});

describe("while images are on their way", () => {
  let patient: RunningService;
  beforeAll(async () => {
    patient = await startTestService({
      VISAGE_FETCH_ALLOW: "127.0.0.1",
      VISAGE_FETCH_TIMEOUT_MS: LONG_MS,
      VISAGE_REQUEST_TIMEOUT_MS: LONG_MS,
    });
  });
  afterAll(() => patient.close());
  afterEach(() => {
    for (const response of held.splice(0)) response.end(GROUP);
  });

  test("a cancelled request cancels its fetch", async () => {
    const controller = new AbortController();
    const body = JSON.stringify({ img: `${base}/held` });
    const headers = { user_id: USER, "content-type": "application/json" };
    const url = `http://127.0.0.1:${patient.port}/get_face_vec`;
    const requested = once(images, "request");
    const cancelled = fetch(url, { method: "POST", headers, body, signal: controller.signal });
    const [{ socket }] = (await requested) as [IncomingMessage];
    const closed = once(socket, "close");
    controller.abort();
    await expect(cancelled).rejects.toThrow("abort");
    await closed;
  });

  test("the ninth URL that one user has in flight is rejected with 429, over every protocol", async () => {
    const { port } = patient;
    const waiting = Promise.all(Array.from({ length: 8 }, () => sendRest({ img: `${base}/held` }, { port })));
    await expect.poll(() => held.length).toBe(8);
    const request = create(GetFaceVecRequestSchema, { img: byUrl(`${base}/group.jpg`) });
    const rejected = await Promise.all([
      sendRest({ img: `${base}/group.jpg` }, { port }),
      ...createProtocolClients(port, USER).map((client) => client.call("getFaceVec", request)),
    ]);
    expect(rejected[0]).toMatchObject({
      status: 429,
      data: { reason: "TOO_MANY_IN_FLIGHT", retryable: true },
    });
    for (const answer of rejected) expect(answer).toMatchObject({ code: "4006" });
    for (const response of held.splice(0)) response.end(GROUP);
    for (const answer of await waiting) expect(answer).toMatchObject({ status: 200 });
    expect(await sendRest({ img: `${base}/group.jpg` }, { port })).toMatchObject({ status: 200 });
  });
});
