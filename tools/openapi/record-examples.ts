// Records the examples of the OpenAPI document: calls every operation of the service with drawn faces and writes the
// requests and responses to examples.json. `npm run generate:examples` runs it, needed after a change of the networks.
// With --accounts it records those of AccountService and AdminService only.
import { writeFileSync } from "node:fs";
import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import sharp from "sharp";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { EMBEDDING_NORM, EMBEDDING_SIZE, readCalibration } from "../../src/core/index.ts";
import { createSyntheticFace } from "../../src/core/synthetic-face.ts";
import { readRoutes, readStreamRoute } from "../../src/rest/routes.ts";
import { startServiceProcess, USER } from "../support/service-process.ts";
import { recordAccountExamples } from "./account-examples.ts";
import type { ExampleCall } from "./api-metadata.ts";
import { createExampleRequest } from "./example-request.ts";
import { EXAMPLES_FILE, fullMethodName, readExamples } from "./examples.ts";
import { JSON_LINES } from "./requests.ts";

const SIDE = 256;
const BACKGROUND = "#acacac";

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
  ...galleryRequests(),
];

const ADMIN_KEY = "admin-key-of-the-recorded-examples";

const service = await startServiceProcess({ VISAGE_ADMIN_KEY: ADMIN_KEY });
try {
  const calls: Record<string, ExampleCall> = {};
  // Vectors differ slightly between machines, so those of accounts can be recorded alone.
  if (process.argv.includes("--accounts")) Object.assign(calls, readExamples());
  else
    for (const [method, request] of requests)
      calls[fullMethodName(method)] = { request, response: await call(method, request) };
  Object.assign(calls, await recordAccountExamples({ port: service.port, adminKey: ADMIN_KEY }));
  writeFileSync(EXAMPLES_FILE, `${JSON.stringify(calls, undefined, 2)}\n`);
} finally {
  await service.stop();
}

/** Creates a request of face.v1, with the images as text. */
function textRequest({ input }: DescMethod): JsonObject {
  const fields = input.fields.filter(({ message }) => message?.name === "Image");
  return Object.fromEntries(fields.map(({ name }, index) => [name, images[index]!]));
}

/** Requests of galleries, from the creation of one to its deletion. */
function galleryRequests(): readonly (readonly [DescMethod, JsonObject])[] {
  const { method } = GalleryService;
  const gallery = { galleryId: "staff" };
  const person = { ...gallery, personId: "17" };
  const successorId = "staff-next";
  return [
    [method.createGallery, { galleryId: successorId }],
    [method.createGallery, { ...gallery, displayName: "Staff" }],
    // With an id of its own, because an id that is made from the template differs between machines.
    [
      method.enrolFace,
      {
        ...person,
        source: { image: firstImage! },
        faceId: "photo-1",
        displayName: "Ann",
        skipQualityCheck: true,
      },
    ],
    [method.getGallery, gallery],
    [method.listGalleries, { pageSize: 10 }],
    [method.updateGallery, { ...gallery, displayName: "Staff of the museum" }],
    [method.getPerson, person],
    [method.listPeople, { ...gallery, pageSize: 10 }],
    [method.updatePerson, { ...person, displayName: "Anna" }],
    [method.identifyFaces, { ...gallery, source: { image: secondImage! }, maxResults: 3 }],
    [method.exportGallery, gallery],
    [method.exportPerson, person],
    [
      method.importFaces,
      { ...person, faceId: "photo-1", displayName: "Anna", embedding: exampleEmbedding() },
    ],
    [method.deleteFace, { ...person, faceId: "photo-1" }],
    [method.deletePerson, person],
    [method.replaceGallery, { ...gallery, successorId }],
    [method.deleteGallery, gallery],
  ];
}

/** An embedding, as an export has it. */
function exampleEmbedding(): JsonObject {
  const values = Array.from(
    { length: EMBEDDING_SIZE },
    (_, i) => (i % 2 ? 1 : -1) * Math.fround(EMBEDDING_NORM / Math.sqrt(EMBEDDING_SIZE)),
  );
  return { values, model: readCalibration().model };
}

/** Calls a method. A stream gets one line, which is JSON. */
async function call(method: DescMethod, request: JsonObject): Promise<JsonObject> {
  const isUnary = method.methodKind === "unary";
  const route = readRoutes(method.parent).find((one) => one.method === method);
  const { target, ...init } = createExampleRequest(route ?? { ...readStreamRoute(method), method }, request);
  const response = await fetch(`http://127.0.0.1:${service.port}${target}`, {
    ...init,
    headers: { user_id: USER, "content-type": isUnary ? "application/json" : JSON_LINES },
  });
  const json = (await response.json()) as JsonObject;
  if (!response.ok || json.error) throw new Error(`${target}: ${JSON.stringify(json)}`);
  return json;
}
