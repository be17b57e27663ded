import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { createWebp, VP8X_FLAGS, vp8x } from "../support/crafted-webp.ts";
import { boxOf, cropPhotograph } from "../support/faces.ts";
import { startTestService, USER } from "../support/service.ts";

const face = () => cropPhotograph(1, boxOf(360, 330, 660, 650));

let service: RunningService;
let imageServer: Server;
const accepted: (string | undefined)[] = [];
beforeAll(async () => {
  const webp = await face().webp().toBuffer();
  imageServer = createServer(({ url, headers }, response) => {
    accepted.push(headers.accept);
    response.end(url === "/photo" ? webp : "GIF89a......");
  });
  await new Promise<void>((resolve) => imageServer.listen(0, "127.0.0.1", resolve));
  service = await startTestService({
    VISAGE_IMAGE_FORMATS: "jpeg,png,webp",
    VISAGE_FETCH_ALLOW: "127.0.0.1",
  });
});
afterAll(async () => {
  await service.close();
  imageServer.close();
});

async function post(image: Uint8Array | string) {
  const image_attr = typeof image === "string" ? image : Buffer.from(image).toString("base64");
  const response = await fetch(`http://127.0.0.1:${service.port}/get_image_attr`, {
    method: "POST",
    headers: { user_id: USER, "content-type": "application/json" },
    body: JSON.stringify({ image_attr }),
  });
  return { httpStatus: response.status, ...JSON.parse(await response.text()) };
}

test("a WebP has the same face as a JPEG", async () => {
  const { data: jpeg } = await post(await face().jpeg({ quality: 95 }).toBuffer());
  const { data: webp } = await post(await face().webp({ quality: 95 }).toBuffer());
  expect(webp.attributes.image_size).toEqual([320, 300]);
  const [one, other] = [jpeg, webp].map(({ attributes }) => attributes.face_id_0.face_rectangle as number[]);
  for (const [i, edge] of one!.entries()) expect(Math.abs(edge - other![i]!)).toBeLessThanOrEqual(3);
});

test("a WebP is fetched by its URL, and other formats are rejected by their first bytes", async () => {
  const { port } = imageServer.address() as AddressInfo;
  expect(await post(`http://127.0.0.1:${port}/photo`)).toMatchObject({ httpStatus: 200, success: true });
  expect(accepted).toEqual(["image/jpeg, image/png, image/webp"]);
  expect(await post(`http://127.0.0.1:${port}/other`)).toMatchObject({
    httpStatus: 415,
    code: "2004",
    message: "The URL does not lead to a JPEG or PNG or WebP image.",
  });
});

test("an animation and other formats are rejected with a sentence that names the formats", async () => {
  expect(await post(Buffer.from("GIF89a"))).toMatchObject({
    httpStatus: 415,
    message: "The image is neither a JPEG nor a PNG nor a WebP.",
  });
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${service.port}` });
  const value = createWebp(vp8x(VP8X_FLAGS.animation, 9, 9));
  const call = createClient(FaceService, transport).getFaceVec(
    { img: { source: { case: "content", value } } },
    { headers: { user_id: USER } },
  );
  await expect(call).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: "The image is an animated WebP and only still images are supported.",
  });
});

test("a lossless WebP is rejected", async () => {
  expect(await post(await face().webp({ lossless: true }).toBuffer())).toMatchObject({
    httpStatus: 415,
    code: "2004",
    message: "The image is a lossless or transparent WebP and only lossy opaque ones are supported.",
  });
});
