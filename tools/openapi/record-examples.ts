// Records the examples of the OpenAPI document: calls every operation of the service with drawn faces and writes the
// requests and responses to examples.json. `npm run generate:examples` runs it, needed after a change of the networks.
import { writeFileSync } from "node:fs";
import type { JsonObject } from "@bufbuild/protobuf";
import sharp from "sharp";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { createSyntheticFace } from "../../src/core/image/synthetic-face.ts";
import { readRoutes } from "../../src/rest/routes.ts";
import { startServiceProcess, USER } from "../support/service-process.ts";
import { EXAMPLES_FILE } from "./examples.ts";

const SIDE = 256;
const BACKGROUND = "#3c3c3c";

const first = Buffer.from(createSyntheticFace());
// The same face as another photograph would show it: with the head tilted, and compressed.
const second = await sharp(first)
  .rotate(8, { background: BACKGROUND })
  .resize(SIDE)
  .jpeg({ quality: 50, mozjpeg: true })
  .toBuffer();

const service = await startServiceProcess({});
try {
  const calls: JsonObject = {};
  for (const { method, path } of readRoutes(FaceService).values()) {
    const images = method.input.fields.filter(({ message }) => message?.name === "Image");
    const request = Object.fromEntries(
      images.map(({ name }, index) => [name, [first, second][index]!.toString("base64")]),
    );
    calls[method.name] = { request, response: await call(path, request) };
  }
  writeFileSync(EXAMPLES_FILE, `${JSON.stringify(calls, undefined, 2)}\n`);
} finally {
  await service.stop();
}

async function call(path: string, body: JsonObject): Promise<JsonObject> {
  const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
    method: "POST",
    headers: { user_id: USER, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const envelope = (await response.json()) as JsonObject;
  if (!response.ok) throw new Error(`${path}: ${envelope.message}`);
  return envelope;
}
