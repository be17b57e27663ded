import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { connect } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { confidenceOf } from "../../src/core/index.ts";
import type { RunningService } from "../../src/main.ts";
import { addTestUser } from "../support/accounts.ts";
import { startEcho } from "../support/echo-service.ts";
import { photograph } from "../support/images.ts";
import { openSocket, postBytes, type RawResponse, readResponse, sendRaw } from "../support/raw-http.ts";
import { type ReplayedRequest, replayedRequests } from "../support/replayed-requests.ts";
import { startTestService, USER } from "../support/service.ts";

/** The header by which the first generation is recognized. */
const KEY = "user_key: any";
const JSON_TYPE = "Content-Type: application/json";
/** Small parts of the photographs with one face each: the same woman twice, and a man. */
const CROPS = {
  woman: crop(1, 1390, 150, 380, 380),
  sameWoman: crop(3, 970, 150, 430, 450),
  other: crop(6, 200, 460, 320, 360),
};

let service: RunningService;
let images: Record<keyof typeof CROPS, Buffer>;
let imageServer: Server;
let urls: readonly [string, string];
const dataDir = mkdtempSync(join(tmpdir(), "visage-legacy-"));

beforeAll(async () => {
  const [woman, sameWoman, other] = await Promise.all([CROPS.woman, CROPS.sameWoman, CROPS.other]);
  images = { woman, sameWoman, other };
  imageServer = createServer(({ url }, response) => response.end(url === "/1" ? woman : sameWoman));
  await new Promise<void>((resolve) => imageServer.listen(0, "127.0.0.1", resolve));
  const { port } = imageServer.address() as AddressInfo;
  urls = [`http://127.0.0.1:${port}/1`, `http://127.0.0.1:${port}/2`];
  service = await startTestService({
    VISAGE_LEGACY: "on",
    VISAGE_DATA_DIR: dataDir,
    VISAGE_FETCH_ALLOW: "127.0.0.1",
  });
  const store = await openAccountStore({ databaseUrl: undefined, dataDir });
  await addTestUser(store, "spent-user-of-tests", { requestsPerMonth: 0 });
  await addTestUser(store, "expired-user-of-tests", {}, { endsAt: new Date("2021-01-01T00:00:00Z") });
  await store.close();
});
afterAll(async () => {
  await service.close();
  imageServer.close();
  rmSync(dataDir, { recursive: true, force: true });
});

function crop(number: 1 | 3 | 6, left: number, top: number, width: number, height: number): Promise<Buffer> {
  return sharp(photograph(number)).extract({ left, top, width, height }).jpeg().toBuffer();
}

/** Sends the bytes of a request with a user id. */
function post(target: string, headers: readonly string[], body: string | Uint8Array): Promise<RawResponse> {
  return sendRaw(service.port, postBytes(target, [`user_id: ${USER}`, ...headers], body));
}

/** Sends images as JSON. */
function postImages(
  target: string,
  headers: readonly string[],
  fields: Readonly<Record<string, Uint8Array>>,
) {
  const texts = Object.entries(fields).map(([name, bytes]) => [name, Buffer.from(bytes).toString("base64")]);
  return post(target, [JSON_TYPE, ...headers], JSON.stringify(Object.fromEntries(texts)));
}

/** What a program reads of a face. */
interface FirstGenerationFace {
  readonly gender_confidence: string;
  readonly face_rectangle: readonly number[];
  readonly landmarks: { readonly faceLandMark: Readonly<Record<string, { x: number; y: number }>> };
}

const pair = () => ({ img_1: images.woman, img_2: images.sameWoman });
const strangers = () => ({ img_1: images.woman, img_2: images.other });

describe("programs of the second generation", () => {
  test("get errors with HTTP status 200 and the usual envelope", async () => {
    const invalid = await post("/get_face_vec", [JSON_TYPE], "{}");
    expect(invalid.status).toBe(200);
    expect(JSON.parse(invalid.body)).toMatchObject({ status: "error", code: "2001", success: false });
    const unauthenticated = await sendRaw(service.port, postBytes("/get_face_vec", [], "{}"));
    expect(unauthenticated.status).toBe(200);
    expect(JSON.parse(unauthenticated.body)).toMatchObject({ code: "4001" });
  });

  test("get the original verdict on two different people", async () => {
    const { body } = await postImages("/match_faces", [], strangers());
    expect(JSON.parse(body)).toMatchObject({ data: { status: "no match" } });
  });
});

describe("compare_faces and match_faces", () => {
  test("are read by position, by splitting the text and as JSON", async () => {
    const { status, body, headers } = await postImages("/compare_faces", [KEY], pair());
    expect(status).toBe(200);
    expect(body).toMatch(/^\{"confidence":"0\.\d{5}"\}$/);
    const { confidence } = JSON.parse(body);
    expect(body.slice(15, 22)).toBe(confidence);
    expect(body.split('"')[3]).toBe(confidence);
    expect(body.substring(body.indexOf(":") + 2, body.length - 2)).toBe(confidence);
    expect(Number(confidence)).toBeGreaterThan(0.6);
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "content-length": "24",
      "x-request-id": expect.stringMatching(/\S{8,}/),
      "x-visage-model": expect.stringMatching(/^sface-/),
      deprecation: expect.stringMatching(/^@\d+$/),
      sunset: expect.stringMatching(/ GMT$/),
      link: expect.stringContaining('</match_faces>; rel="successor-version"'),
    });
    expect((await postImages("/match_faces", [KEY], pair())).body).toBe(body);
  });

  test.each(["/match_faces?detail=1", "/compare_faces?detail=1"])(
    "%s has the confidence of the score",
    async (path) => {
      const second = JSON.parse((await postImages("/match_faces", [], strangers())).body);
      const { body } = await postImages(path, [KEY], strangers());
      expect(body).toBe(`{"confidence":"${confidenceOf(Number(second.data.score)).toFixed(5)}"}`);
      expect(body).toHaveLength(24);
    },
  );

  test("an identical image has a confidence of the same length", async () => {
    const same = { img_1: images.woman, img_2: images.woman };
    expect((await postImages("/match_faces", [KEY], same)).body).toBe('{"confidence":"1.00000"}');
  });
});

describe("get_image_attr", () => {
  test("has the faces and the image size at the top level", async () => {
    const photo = { image_attr: photograph(3) };
    const { status, body } = await postImages("/get_image_attr", [KEY], photo);
    const { attributes } = JSON.parse((await postImages("/get_image_attr", [], photo)).body).data;
    expect(status).toBe(200);
    const { image_size, ...faces } = JSON.parse(body);
    // Programs count the keys, and read the width first.
    expect(Object.keys(JSON.parse(body))).toEqual(["face_id_0", "face_id_1", "face_id_2", "image_size"]);
    expect(image_size).toEqual(attributes.image_size.toReversed());
    expect(image_size[0]).toBe(1920);
    for (const [key, face] of Object.entries<FirstGenerationFace>(faces)) {
      const { landmarks, gender_confidence, ...rest } = attributes[key];
      const points = landmarks.faceLandMark;
      expect(face).toEqual({
        ...rest,
        gender_confidence: String(Math.round(gender_confidence * 10_000) / 10_000),
        landmarks: { faceLandMark: { ...points, nosePoint2: points.noseTip } },
      });
      expect(face.gender_confidence).toMatch(/^(0\.\d{1,4}|1)$/);
      const { faceLandMark } = face.landmarks;
      expect(Object.keys(faceLandMark)).toHaveLength(69);
      const numbers = [...face.face_rectangle, ...Object.values(faceLandMark).flatMap(Object.values)];
      expect(numbers).toHaveLength(4 + 2 * 69);
      expect(numbers.every(Number.isInteger)).toBe(true);
    }
  });

  test("has the image size alone if there is no face", async () => {
    const blank = sharp({ create: { width: 200, height: 100, channels: 3, background: "#808080" } });
    const { body } = await postImages("/get_image_attr", [KEY], { image_attr: await blank.png().toBuffer() });
    expect(body).toBe('{"image_size":[200,100]}');
  });
});

test("get_face_vec has the vector as numpy's arrays are written", async () => {
  const { status, body } = await postImages("/get_face_vec", [KEY], { img: images.woman });
  const second = JSON.parse((await postImages("/get_face_vec", [], { img: images.woman })).body);
  expect(status).toBe(200);
  expect(body).toMatch(/^\{"vector":\{"__ndarray__":\[-?\d/);
  expect(JSON.parse(body)).toEqual({
    vector: { __ndarray__: second.data.vector, dtype: "float64", shape: [128] },
  });
  expect(second.data.vector).toHaveLength(128);
});

describe("errors", () => {
  const DETAILS = "Please provide all necessary details";
  const user = `user_id: ${USER}`;
  const gif = Buffer.from("GIF89a");

  test.each<[string, string, readonly string[], string | (() => Promise<string>), string]>([
    ["no user id", "/match_faces", [], "{}", DETAILS],
    ["an unknown user id", "/match_faces", ["user_id: nobody"], "{}", DETAILS],
    ["no quota left", "/match_faces", ["user_id: spent-user-of-tests"], "{}", "Api request limit over"],
    [
      "an expired subscription",
      "/match_faces",
      ["user_id: expired-user-of-tests"],
      "{}",
      "Plan expired Please recharge to continue",
    ],
    ["no images", "/match_faces", [user], "{}", DETAILS],
    ["a broken body", "/match_faces", [user, JSON_TYPE], "{", DETAILS],
    ["a compressed body", "/match_faces", [user, "Content-Encoding: gzip"], "{}", DETAILS],
    ["a malformed box", "/get_face_vec?bboxes=1,2", [user], "{}", DETAILS],
    ["an unknown path", "/nowhere", [user], "{}", DETAILS],
    [
      "an image of another format",
      "/get_face_vec",
      [user],
      `{"img":"${gif.toString("base64")}"}`,
      "Invalid Image",
    ],
    ["an unreachable image", "/get_face_vec", [user], '{"img":"http://10.0.0.1/a.jpg"}', "Invalid Image"],
    [
      "no face in one image",
      "/match_faces",
      [user],
      async () => {
        const blank = sharp({ create: { width: 64, height: 64, channels: 3, background: "#808080" } });
        const img_2 = (await blank.png().toBuffer()).toString("base64");
        return JSON.stringify({ img_1: images.woman.toString("base64"), img_2 });
      },
      "Unable to process",
    ],
  ])("%s", async (_, target, headers, body, error) => {
    const bytes = postBytes(
      target,
      ["User_Key: any", ...headers],
      typeof body === "string" ? body : await body(),
    );
    const response = await sendRaw(service.port, bytes);
    expect(response).toMatchObject({ status: 200, body: JSON.stringify({ error }) });
    expect(response.headers).toMatchObject({
      "content-type": "application/json",
      "x-request-id": expect.stringMatching(/\S{8,}/),
    });
  });

  test("before the body: a body that is too large", async () => {
    const head = `POST /get_face_vec HTTP/1.1\r\nHost: test\r\n${user}\r\n${KEY}\r\nContent-Length: 99999999\r\n\r\n`;
    const response = await sendRaw(service.port, Buffer.from(head));
    expect(response).toMatchObject({ status: 200, body: '{"error":"Invalid Image"}' });
  });

  test("a wrong method keeps the Allow header", async () => {
    const head = `GET /get_face_vec HTTP/1.1\r\nHost: test\r\n${KEY}\r\n\r\n`;
    const response = await sendRaw(service.port, Buffer.from(head));
    expect(response).toMatchObject({ status: 200, headers: { allow: "POST, OPTIONS" } });
    expect(JSON.parse(response.body)).toEqual({ error: DETAILS });
  });

  test("over HTTP/2", async () => {
    const session = connect(`http://127.0.0.1:${service.port}`);
    const stream = session.request({ ":method": "POST", ":path": "/get_face_vec", user_key: "k" });
    stream.end("{}");
    expect(JSON.parse(await textOf(stream))).toEqual({ error: DETAILS });
    session.destroy();
  });
});

describe("what the header does not change", () => {
  test("is gRPC and Connect", async () => {
    const baseUrl = `http://127.0.0.1:${service.port}`;
    const headers = { user_id: USER, user_key: "any" };
    for (const transport of [
      createGrpcTransport({ baseUrl }),
      createConnectTransport({ baseUrl, httpVersion: "1.1" }),
    ]) {
      const client = createClient(FaceService, transport);
      const img = { source: { case: "content" as const, value: images.woman } };
      const { status, data } = await client.compareFaces({ img1: img, img2: img }, { headers });
      expect([status, data?.confidence]).toEqual(["ok", "1.0000"]);
      await expect(client.getFaceVec({}, { headers })).rejects.toMatchObject({ code: Code.InvalidArgument });
    }
  });

  test("is anything without VISAGE_LEGACY", async () => {
    const echo = await startEcho();
    const success = await sendRaw(echo.port, postBytes("/match_faces", [KEY], "{}"));
    expect(JSON.parse(success.body)).toMatchObject({ data: { score: "0.0000" } });
    const failure = await sendRaw(echo.port, postBytes("/match_faces", [KEY, "user_id: nobody"], "{}"));
    expect(failure.status).toBe(401);
    expect(JSON.parse(failure.body)).toMatchObject({ code: "4002" });
    await echo.close();
  });
});

describe("the requests of known programs", () => {
  const programs = replayedRequests({ bytes: [Buffer.alloc(0), Buffer.alloc(0)], urls: ["", ""] });
  let requests: readonly ReplayedRequest[];
  let expected: string;
  beforeAll(async () => {
    requests = replayedRequests({ bytes: [images.woman, images.sameWoman], urls });
    expected = JSON.parse((await postImages("/match_faces", [], pair())).body).data.score;
  });

  test.each(programs.map(({ program }, i) => [program, i] as const))("%s", async (_, i) => {
    const { query = "", headers, body } = requests[i]!;
    const second = await post(`/match_faces${query}`, headers, body);
    expect(JSON.parse(second.body)).toMatchObject({
      success: true,
      data: { score: expected, status: "match" },
    });
    const bytes = postBytes(`/compare_faces${query}`, [`User_id: ${USER}`, "User_key: k", ...headers], body);
    const first = await sendRaw(service.port, bytes);
    const confidence = confidenceOf(Number(expected)).toFixed(5);
    expect(first).toMatchObject({ status: 200, body: `{"confidence":"${confidence}"}` });
  });

  test("curl waits for 100 Continue before it sends the body", async () => {
    const { headers, body } = requests[0]!;
    const bytes = postBytes(
      "/match_faces",
      [`user_id: ${USER}`, KEY, "Expect: 100-continue", ...headers],
      body,
    );
    const socket = await openSocket(service.port);
    socket.write(bytes.subarray(0, -body.length));
    const interim = await new Promise((resolve) => socket.once("data", (chunk) => resolve(String(chunk))));
    expect(interim).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    socket.write(body);
    expect((await readResponse(socket)).body).toMatch(/^\{"confidence":"0\.\d{5}"\}$/);
    socket.destroy();
  });

  test("Java streams the body in chunks", async () => {
    const { headers, body } = requests[0]!;
    const lines = [`user_id: ${USER}`, KEY, "Transfer-Encoding: chunked", ...headers];
    const head = `POST /match_faces HTTP/1.1\r\nHost: test\r\n${lines.join("\r\n")}\r\n\r\n`;
    const chunks = Array.from({ length: Math.ceil(body.length / 4096) }, (_, i) => {
      const chunk = body.subarray(4096 * i, 4096 * (i + 1));
      return Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n")]);
    });
    const bytes = Buffer.concat([Buffer.from(head), ...chunks, Buffer.from("0\r\n\r\n")]);
    expect((await sendRaw(service.port, bytes)).body).toMatch(/^\{"confidence":"0\.\d{5}"\}$/);
  });
});

// Last, because no request is served afterwards.
test("a service that shuts down rejects a request in the same form", async () => {
  await service.drain(0);
  const response = await post("/match_faces", [KEY], "{}");
  expect(response).toMatchObject({ status: 200, body: '{"error":"Unable to process"}' });
  expect(response.headers["retry-after"]).toBe("1");
});
