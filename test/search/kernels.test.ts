import { expect, test } from "vitest";
import {
  NORM_OFFSET,
  QUANTIZED_BYTES,
  QUANTIZED_SCALE,
  TEMPLATE_BYTES,
} from "../../src/search/assembly/constants.ts";
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

test("quantize rounds the numbers of a template, relative to its norm", () => {
  const { memory, quantize } = instantiate(4 * TEMPLATE_BYTES);
  const numbers = new Float32Array(memory.buffer);
  const quantized = 2 * TEMPLATE_BYTES;
  const one = Float32Array.from({ length: 128 }, (_, i) => (i === 5 ? -3 : 0));
  for (const vector of [...randomVectors(20, 3), one, new Float32Array(128)]) {
    numbers.set(vector);
    quantize(0, quantized);
    const norm = Math.hypot(...vector);
    const integers = new Int16Array(memory.buffer, quantized, 128);
    for (const [i, value] of vector.entries())
      expect(Math.abs(integers[i]! - (norm && (QUANTIZED_SCALE * value) / norm))).toBeLessThan(0.505);
    expect(numbers[(quantized + NORM_OFFSET) / 4]).toBeCloseTo(norm, 5);
  }
});

test("findQuantized finds exactly the templates that the reference finds", () => {
  const count = 200;
  const [query, templates] = [TEMPLATE_BYTES, 2 * TEMPLATE_BYTES];
  const end = templates + count * QUANTIZED_BYTES;
  const { memory, quantize, findQuantized } = instantiate(end + 4 * count);
  const numbers = new Float32Array(memory.buffer);
  const integersAt = (address: number) => new Int16Array(memory.buffer, address, 128);
  const write = (vector: Float32Array, address: number) => {
    numbers.set(vector);
    quantize(0, address);
  };
  write(randomVector(2), query);
  randomVectors(count, 1).forEach((vector, i) => {
    write(vector, templates + i * QUANTIZED_BYTES);
  });
  const [factor, margin] = [1e-9, 0.01].map(Math.fround) as [number, number];
  const values = Array.from({ length: count }, (_, i) => {
    const address = templates + i * QUANTIZED_BYTES;
    const norm = numbers[(address + NORM_OFFSET) / 4]!;
    const dot = integersAt(address).reduce((sum, value, d) => sum + value * integersAt(query)[d]!, 0);
    const inner = Math.fround(Math.fround(norm - Math.fround(factor * Math.fround(dot))) - margin);
    return Math.fround(norm * inner);
  });
  for (const bound of [-1, 1, ...values]) {
    const matchesEnd = findQuantized(query, templates, end, factor, margin, bound, end);
    const expected = values.flatMap((value, i) => (value <= bound ? [templates + i * QUANTIZED_BYTES] : []));
    expect([...new Uint32Array(memory.buffer, end, (matchesEnd - end) / 4)]).toEqual(expected);
  }
});
