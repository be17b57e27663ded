// Records what the service answers for the sample photos of the playground, which the page shows to visitors without
// a user id, and what the core measures in the photos of the accuracy gate. `npm run generate:samples` runs it, needed
// after a change of the networks.
import { readFileSync, writeFileSync } from "node:fs";
import { DEFAULT_MODELS_DIR } from "../src/core/index.ts";
import { openNetworks } from "../src/core/networks.ts";
import { OPERATIONS, type Operation } from "../src/web/playground/operations.ts";
import { measureGoldenFaces, writeGoldenFaces } from "./support/golden-faces.ts";
import { startServiceProcess, USER } from "./support/service-process.ts";

const FOLDER = "src/web/playground/samples";

const SINGLES = [["collins"], ["hopper"], ["collins-copy"]];
const PAIRS = [
  ["collins", "hopper"],
  ["collins", "collins-copy"],
];

const service = await startServiceProcess({});
try {
  const results: Record<string, unknown> = {};
  for (const operation of Object.values(OPERATIONS))
    for (const names of operation.images.length > 1 ? PAIRS : SINGLES)
      results[`${operation.name} ${names.join(" ")}`] = await call(operation, names);
  writeFileSync(`${FOLDER}/results.json`, `${JSON.stringify(results)}\n`);
} finally {
  await service.stop();
}

const networks = await openNetworks(DEFAULT_MODELS_DIR);
writeGoldenFaces(await measureGoldenFaces(networks));
await networks.close();

async function call(
  { path, images, features, fields = {} }: Operation,
  names: readonly string[],
): Promise<unknown> {
  const body = new FormData();
  for (const [i, field] of images.entries())
    body.append(field, new Blob([readFileSync(`${FOLDER}/${names[i]}.jpg`)]), `${names[i]}.jpg`);
  for (const [field, value] of Object.entries(fields)) body.append(field, String(value));
  const query = features.map((feature) => `features=${feature}`).join("&");
  const response = await fetch(`http://127.0.0.1:${service.port}/${path}?${query}`, {
    method: "POST",
    headers: { "x-api-key": USER },
    body,
  });
  if (!response.ok) throw new Error(`${path} ${names}: ${await response.text()}`);
  return response.json();
}
