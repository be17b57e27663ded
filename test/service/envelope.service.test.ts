import { create, toBinary } from "@bufbuild/protobuf";
import { ConnectError, createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { FaceService, GetFaceVecRequestSchema } from "../../gen/ts/face/v1/face_pb.ts";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { ERRORS } from "../../src/service/error-table.ts";
import { LANDMARK_KEYS } from "../../src/service/landmark-keys.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

const photo1 = photograph(1).toString("base64");
const photo3 = photograph(3).toString("base64");
const SAME_WOMAN = "bboxes_1=1487,263,1642,419&bboxes_2=1064,254,1309,499";

let service: RunningService;
beforeAll(async () => {
  // Hundreds of faces take a while on a busy machine.
  service = await startTestService({ VISAGE_REQUEST_TIMEOUT_MS: "55000" });
});
afterAll(() => service.close());

async function post(path: string, body: object): Promise<{ text: string; response: Response }> {
  const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
    method: "POST",
    headers: { user_id: USER, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { text: await response.text(), response };
}

describe("the envelope of a success", () => {
  test("match_faces: a score with four decimals and a verdict", async () => {
    const { text, response } = await post(`/match_faces?${SAME_WOMAN}`, { img_1: photo1, img_2: photo3 });
    expect(text).toMatch(
      /^\{"status":"ok","code":"1000","success":true,"message":"Fetched confidence value\.","data":\{"score":"0\.3\d{3}","status":"match"\}\}$/,
    );
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(response.headers.get("x-request-id")).toMatch(/\S{8,}/);
    expect(response.headers.get("x-visage-model")).toMatch(/^sface-[0-9a-f]{12}$/);
  });

  test("match_faces: is symmetric", async () => {
    const { text: one } = await post("/match_faces", { img_1: photo1, img_2: photo3 });
    const { text: other } = await post("/match_faces", { img_1: photo3, img_2: photo1 });
    expect(one).toBe(other);
  });

  test("match_faces: two different people are not a match", async () => {
    const { text } = await post("/match_faces", { img_1: photo1, img_2: photograph(6).toString("base64") });
    expect(text).toMatch(/"data":\{"score":"0\.[5-8]\d{3}","status":"not a match"\}\}$/);
  });

  test("compare_faces: a confidence, and the deprecation headers", async () => {
    const { text, response } = await post(`/compare_faces?${SAME_WOMAN}`, { img_1: photo1, img_2: photo3 });
    expect(text).toMatch(
      /^\{"status":"ok","code":"1000","success":true,"message":"Fetched confidence value\.","data":\{"confidence":"0\.9\d{3}"\}\}$/,
    );
    const header = (name: string) => response.headers.get(name);
    expect(new Date(1000 * Number(header("deprecation")!.slice(1))).toISOString()).toMatch(/^2026-12-01T00/);
    expect(header("sunset")).toBe("Sun, 31 Dec 2028 00:00:00 GMT");
    expect(header("link")).toBe(
      '</match_faces>; rel="successor-version", </docs#compareFaces>; rel="deprecation"',
    );
  });

  test("get_image_attr: only faces and image_size; each face has its keys in order", async () => {
    const { text } = await post("/get_image_attr", { image_attr: photo1 });
    const { data } = JSON.parse(text) as { data: { attributes: Record<string, unknown> } };
    expect(Object.keys(data)).toEqual(["attributes"]);
    expect(Object.keys(data.attributes)).toEqual(["face_id_0", "face_id_1", "face_id_2", "image_size"]);
    expect(data.attributes.image_size).toEqual([1280, 1920]);
    for (const id of ["face_id_0", "face_id_1", "face_id_2"]) {
      const face = data.attributes[id] as {
        face_rectangle: number[];
        gender: string;
        gender_confidence: number;
        landmarks: { faceLandMark: Record<string, { x: number; y: number }> };
      };
      expect(Object.keys(face)).toEqual([
        "age",
        "face_rectangle",
        "gender",
        "gender_confidence",
        "landmarks",
      ]);
      const { face_rectangle, gender, gender_confidence, landmarks } = face;
      expect(face_rectangle.map(Number.isInteger)).toEqual([true, true, true, true]);
      expect(gender).toBe("female");
      expect(gender_confidence).toBeGreaterThanOrEqual(0.501);
      expect(Object.keys(landmarks)).toEqual(["faceLandMark"]);
      const points = landmarks.faceLandMark;
      expect(Object.keys(points)).toEqual(LANDMARK_KEYS);
      for (const point of Object.values(points)) expect(Object.keys(point)).toEqual(["x", "y"]);
    }
  });

  test("get_face_vec: vectors of 128 numbers; their distance is the score of match_faces", async () => {
    const vectors = await Promise.all(
      [photo1, photo3].map(async (img) => {
        const { text } = await post("/get_face_vec", { img });
        expect(text).toMatch(
          /^\{"status":"ok","code":"1000","success":true,"message":"Fetched vector data\.","data":\{"vector":\[[^\]]*\]\}\}$/,
        );
        return (JSON.parse(text) as { data: { vector: number[] } }).data.vector;
      }),
    );
    const [one, other] = vectors as [number[], number[]];
    expect(one).toHaveLength(128);
    const distance = Math.hypot(...one.map((value, i) => value - other[i]!));
    const { text } = await post("/match_faces", { img_1: photo1, img_2: photo3 });
    expect(text).toContain(`"score":"${distance.toFixed(4)}"`);
  });

  test("detail=1 adds faces, model and durations", async () => {
    const { text } = await post(`/match_faces?detail=1&${SAME_WOMAN}`, { img_1: photo1, img_2: photo3 });
    const { detail } = (JSON.parse(text) as { data: { detail: Record<string, unknown> } }).data;
    expect(Object.keys(detail)).toEqual(["images", "model", "milliseconds"]);
    expect(detail.images).toHaveLength(2);
    expect(Object.keys(detail.milliseconds as object).toSorted()).toEqual([
      "decode",
      "detect",
      "embed",
      "mesh",
      "queue",
    ]);
  });
});

describe("the envelope of an error", () => {
  test.each([
    ["/get_face_vec", {}, 400, "2001", "The field img is missing."],
    ["/get_face_vec", { img: "http://me:secret@images.test/" }, 400, "2001", /URL/],
    ["/get_face_vec?bboxes=1,2,3", { img: photo1 }, 400, "2002", /1,2,3/],
    ["/get_face_vec?bboxes=1,2,3,4&bboxes=5,6,7,8", { img: photo1 }, 400, "2002", /bboxes/],
    ["/get_image_attr", { bboxes: Array(257).fill("1,2,3,4") }, 400, "2002", /more than 256/],
    [
      "/get_face_vec?bboxes=9,9,9,90",
      { img: photo1 },
      400,
      "2002",
      "The box from 9 9 to 9 90 is empty (bboxes).",
    ],
    [
      "/get_face_vec?bboxes=2000,9,2100,90",
      { img: photo1 },
      400,
      "2002",
      "The box from 2000 9 to 2100 90 lies outside the image (bboxes).",
    ],
    [
      "/get_image_attr?bboxes=1470,227,1676,431&20,20,200,200",
      { image_attr: photo1 },
      422,
      "3002",
      /from 20 20 to 200 200 \(bboxes\[1\]\)/,
    ],
    [
      "/get_face_vec?bboxes=20,20,200,200",
      { img: photo1 },
      422,
      "3002",
      "No face was found in the box from 20 20 to 200 200 (bboxes).",
    ],
    ["/get_face_vec?bboxes=419,390,450,425&face_det=0&quality=1", { img: photo1 }, 422, "3101", /./],
    ["/no_such_path", {}, 404, "4040", /./],
  ])("%s %#", async (path, body, status, code, message) => {
    const { text, response } = await post(path, body);
    const envelope = JSON.parse(text) as Record<string, string>;
    expect(Object.keys(envelope)).toEqual(["status", "code", "success", "message", "data"]);
    const { http, retryable } = Object.values(ERRORS).find((row) => row.code === envelope.code)!;
    expect(envelope).toMatchObject({ status: "error", success: false });
    expect(envelope.data).toEqual({ reason: expect.stringMatching(/^[A-Z_]+$/), retryable });
    expect(http).toBe(status);
    expect(response.status).toBe(status);
    expect(envelope.code).toMatch(code);
    expect(envelope.message).toMatch(message);
    expect(response.headers.get("x-request-id")).toMatch(/\S{8,}/);
  });

  test.each([
    ["/match_faces?bboxes_2=9,9,9,90", { img_1: photo3, img_2: photo3 }, "img_2", /\(bboxes_2\)\.$/],
    ["/get_image_attr?bboxes=9,9,90,90&9,9,9,90", { image_attr: photo3 }, "image_attr", /\(bboxes\[1\]\)\.$/],
    // A box that cannot be read is at fault itself.
    ["/match_faces?bboxes_2=1,2,3", { img_1: photo3, img_2: photo3 }, "bboxes_2", /^bboxes_2: /],
    ["/get_face_vec", { img: "a,b" }, "img", /^img: /],
  ])("names the image and the box at fault: %s %#", async (path, body, image, message) => {
    const { text, response } = await post(path, body);
    expect(response.headers.get("x-visage-image")).toBe(image);
    expect((JSON.parse(text) as { message: string }).message).toMatch(message);
  });

  test("quality=1: the message is the text for the first reason", async () => {
    const small = await post("/get_face_vec?quality=1", { img: await shrunk(photograph(3), 400) });
    expect(JSON.parse(small.text)).toMatchObject({ code: "3101", message: "Face too Small" });
    expect(small.response.status).toBe(422);
  });

  test("image without a face: an error for get_face_vec, only image_size for get_image_attr", async () => {
    const plain = await shrunk(photograph(3), 2);
    const vector = await post("/get_face_vec", { img: plain });
    expect(JSON.parse(vector.text)).toMatchObject({ code: "3001" });
    const attributes = await post("/get_image_attr", { image_attr: plain });
    expect(attributes.text).toContain('"data":{"attributes":{"image_size":[1,2]}}');
  });
});

async function shrunk(photo: Buffer, width: number): Promise<string> {
  const { default: sharp } = await import("sharp");
  return (await sharp(photo).resize(width).png().toBuffer()).toString("base64");
}

describe("the request id", () => {
  const sendId = async (path: string, id: string) => {
    const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
      method: "POST",
      headers: { user_id: USER, "content-type": "application/json", "x-request-id": id },
      body: "{}",
    });
    await response.arrayBuffer();
    return response.headers.get("x-request-id");
  };

  test.each(["/get_face_vec", "/nowhere", "/face.v1.FaceService/GetFaceVec", "/healthz"])(
    "is that of the client at %s, or a new one if that is invalid",
    async (path) => {
      expect(await sendId(path, "mine-42")).toBe("mine-42");
      expect(await sendId(path, "not well formed")).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  test.each([
    ["gRPC", createGrpcTransport],
    ["gRPC-Web over HTTP/1.1", createGrpcWebTransport],
    ["Connect", createConnectTransport],
  ])("is once in the metadata of an error over %s", async (name, createTransport) => {
    const httpVersion = name === "gRPC" ? "2" : "1.1";
    const transport = createTransport({ baseUrl: `http://127.0.0.1:${service.port}`, httpVersion } as never);
    const client = createClient(FaceService, transport);
    const request = { img: { source: { case: "content", value: Buffer.from("no image") } as const } };
    // The operation rejects the one, and admission the other.
    for (const user_id of [USER, "nobody"]) {
      const call = client.getFaceVec(request, { headers: { user_id, "x-request-id": "mine-42" } });
      const error = ConnectError.from(await call.catch((fault: unknown) => fault));
      expect(error.findDetails(ErrorInfoSchema)).toHaveLength(1);
      expect(error.metadata.get("x-request-id")).toBe("mine-42");
    }
  });

  test("is once in a gRPC-Web error, among the headers", async () => {
    const response = await fetch(`http://127.0.0.1:${service.port}/face.v1.FaceService/GetFaceVec`, {
      method: "POST",
      headers: { user_id: USER, "content-type": "application/grpc-web+proto", "x-request-id": "mine-42" },
      body: new Uint8Array(5),
    });
    expect(response.headers.get("grpc-status")).toBe("3");
    expect(response.headers.get("x-request-id")).toBe("mine-42");
    expect(await response.text()).toBe("");
  });

  test("is in the headers of a gRPC response and in the metadata of an error", async () => {
    const client = new Client(`127.0.0.1:${service.port}`, credentials.createInsecure());
    onTestFinished(() => client.close());
    const ask = (image: Uint8Array) =>
      new Promise<{ headers: Metadata; fault: ServiceError | null }>((resolve) => {
        const metadata = new Metadata();
        metadata.set("user_id", USER);
        metadata.set("x-request-id", "mine-42");
        const request = create(GetFaceVecRequestSchema, {
          img: { source: { case: "content", value: image } },
        });
        let headers = new Metadata();
        client
          .makeUnaryRequest(
            "/face.v1.FaceService/GetFaceVec",
            (message) => Buffer.from(toBinary(GetFaceVecRequestSchema, message)),
            (bytes) => bytes,
            request,
            metadata,
            (fault) => resolve({ headers, fault }),
          )
          .on("metadata", (received) => {
            headers = received;
          });
      });
    const { headers, fault: none } = await ask(photograph(5));
    expect(none).toBeNull();
    expect(headers.get("x-request-id")).toEqual(["mine-42"]);
    const { fault } = await ask(Buffer.from("no image"));
    expect(fault?.metadata.get("x-request-id")).toEqual(["mine-42"]);
  });
});

test("a body beyond the limit is rejected over REST and Connect", async () => {
  const body = JSON.stringify({ img: "A".repeat(33 * 1024 * 1024) });
  const ask = (path: string) =>
    fetch(`http://127.0.0.1:${service.port}${path}`, {
      method: "POST",
      headers: { user_id: USER, "content-type": "application/json" },
      body,
    });
  const plain = await ask("/get_face_vec");
  expect(plain.status).toBe(413);
  expect(await plain.json()).toMatchObject({ code: "2010", data: { reason: "REQUEST_TOO_LARGE" } });
  const connect = await ask("/face.v1.FaceService/GetFaceVec");
  expect(await connect.json()).toMatchObject({ code: "resource_exhausted" });
});
