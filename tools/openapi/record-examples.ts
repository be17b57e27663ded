// Records the examples of the OpenAPI document: calls every operation of the service with drawn faces and writes the
// requests and responses to examples.json. `npm run generate:examples` runs it, needed after a change of the networks.
import { writeFileSync } from "node:fs";
import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import sharp from "sharp";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { createSyntheticFace } from "../../src/core/image/synthetic-face.ts";
import { readPath } from "../../src/rest/routes.ts";
import { startServiceProcess, USER } from "../support/service-process.ts";
import { EXAMPLES_FILE, fullMethodName } from "./examples.ts";
import { JSON_LINES } from "./requests.ts";

const SIDE = 256;
const BACKGROUND = "#3c3c3c";

const first = Buffer.from(createSyntheticFace());
// The same face as another photograph would show it: with the head tilted, and compressed.
const second = await sharp(first)
  .rotate(8, { background: BACKGROUND })
  .resize(SIDE)
  .jpeg({ quality: 50, mozjpeg: true })
  .toBuffer();
const images = [first, second].map((image) => image.toString("base64"));
const [firstImage, secondImage] = images.map((content) => ({ content }));

const { analyzeImage, analyzeImages, compareFaces } = FaceAnalysisService.method;
const requests: readonly (readonly [DescMethod, JsonObject])[] = [
  ...FaceService.methods.map((method) => [method, textRequest(method)] as const),
  [analyzeImage, { image: firstImage!, features: ["FEATURE_ATTRIBUTES", "FEATURE_QUALITY"] }],
  [
    compareFaces,
    { source: { image: firstImage! }, target: { image: secondImage! }, maxFalseMatchRate: 0.001 },
  ],
  [analyzeImages, { key: "one.png", request: { image: firstImage!, features: ["FEATURE_QUALITY"] } }],
];

const service = await startServiceProcess({});
try {
  const calls: JsonObject = {};
  for (const [method, request] of requests)
    calls[fullMethodName(method)] = { request, response: await call(method, request) };
  writeFileSync(EXAMPLES_FILE, `${JSON.stringify(calls, undefined, 2)}\n`);
} finally {
  await service.stop();
}

/** Creates a request of face.v1, with the images as text. */
function textRequest({ input }: DescMethod): JsonObject {
  const fields = input.fields.filter(({ message }) => message?.name === "Image");
  return Object.fromEntries(fields.map(({ name }, index) => [name, images[index]!]));
}

/** Calls a method. A stream gets one line, which is JSON. */
async function call(method: DescMethod, body: JsonObject): Promise<JsonObject> {
  const path = readPath(method);
  const type = method.methodKind === "unary" ? "application/json" : JSON_LINES;
  const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
    method: "POST",
    headers: { user_id: USER, "content-type": type },
    body: JSON.stringify(body),
  });
  const json = (await response.json()) as JsonObject;
  if (!response.ok || json.error) throw new Error(`${path}: ${JSON.stringify(json)}`);
  return json;
}
