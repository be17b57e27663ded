// Records what the service answers for the sample photos of the playground, which the page shows to visitors without
// a user id, and what the core measures in the photos of the accuracy gate. `npm run generate:samples` runs it, needed
// after a change of the networks.
import { readFileSync, writeFileSync } from "node:fs";
import { DEFAULT_MODELS_DIR } from "../src/core/index.ts";
import { openNetworks } from "../src/core/networks.ts";
import { measureGoldenFaces, writeGoldenFaces } from "./support/golden-faces.ts";
import { startServiceProcess, USER } from "./support/service-process.ts";

const FOLDER = "src/web/playground/samples";

const SINGLES = [["collins"], ["hopper"], ["collins-copy"]];
const PAIRS = [
  ["collins", "hopper"],
  ["collins", "collins-copy"],
];
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  get_image_attr: ["image_attr"],
  get_face_vec: ["img"],
  match_faces: ["img_1", "img_2"],
  compare_faces: ["img_1", "img_2"],
};

const service = await startServiceProcess({});
try {
  const results: Record<string, unknown> = {};
  for (const [operation, fields] of Object.entries(FIELDS))
    for (const names of fields.length > 1 ? PAIRS : SINGLES)
      results[`${operation} ${names.join(" ")}`] = await call(operation, fields, names);
  writeFileSync(`${FOLDER}/results.json`, `${JSON.stringify(results)}\n`);
} finally {
  await service.stop();
}

const networks = await openNetworks(DEFAULT_MODELS_DIR);
writeGoldenFaces(await measureGoldenFaces(networks));
await networks.close();

async function call(
  operation: string,
  fields: readonly string[],
  names: readonly string[],
): Promise<unknown> {
  const body = new FormData();
  for (const [i, field] of fields.entries())
    body.append(field, new Blob([readFileSync(`${FOLDER}/${names[i]}.jpg`)]), `${names[i]}.jpg`);
  const response = await fetch(`http://127.0.0.1:${service.port}/${operation}?detail=1`, {
    method: "POST",
    headers: { user_id: USER },
    body,
  });
  if (!response.ok) throw new Error(`${operation} ${names}: ${await response.text()}`);
  return response.json();
}
