import { expect, test } from "vitest";
import { TEMPLATE_BYTES } from "../../src/search/assembly/constants.ts";
import { instantiate } from "../../src/search/kernels.wasm.js";
import { squaredDistance32 } from "../support/reference-kernels.ts";
import { randomVector, randomVectors } from "../support/vectors.ts";

test("findCandidates finds exactly the templates that the reference finds", () => {
  const vectors = randomVectors(200, 1);
  const query = randomVector(2);
  const templates = TEMPLATE_BYTES;
  const end = templates + vectors.length * TEMPLATE_BYTES;
  const { memory, findCandidates } = instantiate(end + 4 * vectors.length);
  const numbers = new Float32Array(memory.buffer);
  numbers.set(query);
  vectors.forEach((vector, i) => {
    numbers.set(vector, (templates + i * TEMPLATE_BYTES) / 4);
  });

  const distances = vectors.map((vector) => squaredDistance32(vector, query));
  // A bound that equals one of the distances includes that template.
  for (const bound of [0, 10, ...distances]) {
    const matches = new Uint32Array(
      memory.buffer,
      end,
      (findCandidates(0, templates, end, bound, end) - end) / 4,
    );
    const expected = distances.flatMap((distance, i) =>
      distance <= bound ? [templates + i * TEMPLATE_BYTES] : [],
    );
    expect([...matches]).toEqual(expected);
  }
});
