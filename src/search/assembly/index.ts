// The search kernel in AssemblyScript. tools/kernels.mjs compiles it into ../kernels.wasm.js, whose interface is
// ../kernels.wasm.d.ts. Addresses are byte offsets into the memory; the caller guarantees that they are valid.
import { NORM_OFFSET, QUANTIZED_BYTES, QUANTIZED_SCALE, TEMPLATE_BYTES } from "./constants";

const VECTOR_BYTES = 16;

/** Dimensions summed between two comparisons with the bound, 32: the fastest of those measured. */
const STEP_BYTES = 8 * VECTOR_BYTES;

/**
 * Finds the templates whose squared distance to the query is at most `bound`. It abandons a template as soon as the
 * partial sum exceeds the bound. See `kernels.wasm.d.ts` for the parameters.
 */
export function findCandidates(
  query: usize,
  templates: usize,
  templatesEnd: usize,
  bound: f32,
  matches: usize,
): usize {
  for (let template = templates; template < templatesEnd; template += TEMPLATE_BYTES) {
    if (isWithin(query, template, bound)) {
      store<usize>(matches, template);
      matches += sizeof<usize>();
    }
  }
  return matches;
}

/** Writes a template as integers and a norm. Only its first bytes up to the norm are written. */
export function quantize(template: usize, quantized: usize): void {
  let squares = f32x4(0, 0, 0, 0);
  for (let offset = 0; offset < TEMPLATE_BYTES; offset += VECTOR_BYTES) {
    const numbers = v128.load(template + offset);
    squares = f32x4.add(squares, f32x4.mul(numbers, numbers));
  }
  const norm = sqrt<f32>(total(squares));
  const factor = f32x4.splat(norm > 0 ? f32(QUANTIZED_SCALE) / norm : 0);
  for (let offset = 0; offset < NORM_OFFSET; offset += VECTOR_BYTES) {
    const low = toIntegers(v128.load(template + 2 * offset, 0), factor);
    const high = toIntegers(v128.load(template + 2 * offset, 16), factor);
    v128.store(quantized + offset, i16x8.narrow_i32x4_s(low, high));
  }
  store<f32>(quantized, norm, NORM_OFFSET);
}

function toIntegers(numbers: v128, factor: v128): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(numbers, factor)));
}

/**
 * Finds the quantized templates for which `norm * (norm - factor * dot - margin) <= bound`, where `dot` is the dot
 * product of the integers with those of the query. See `kernels.wasm.d.ts` for the parameters.
 */
export function findQuantized(
  query: usize,
  templates: usize,
  templatesEnd: usize,
  factor: f32,
  margin: f32,
  bound: f32,
  matches: usize,
): usize {
  for (let template = templates; template < templatesEnd; template += QUANTIZED_BYTES) {
    const norm = load<f32>(template, NORM_OFFSET);
    if (norm * (norm - factor * f32(dotProduct(query, template)) - margin) <= bound) {
      store<usize>(matches, template);
      matches += sizeof<usize>();
    }
  }
  return matches;
}

/** The dot product of 128 integers of 16 bits. The caller guarantees that it fits into 32 bits. */
function dotProduct(query: usize, template: usize): i32 {
  // Two sums, so that an addition need not wait for the one before it.
  let even = i32x4.dot_i16x8_s(v128.load(query, 0), v128.load(template, 0));
  let odd = i32x4.dot_i16x8_s(v128.load(query, 16), v128.load(template, 16));
  even = i32x4.add(even, i32x4.dot_i16x8_s(v128.load(query, 32), v128.load(template, 32)));
  odd = i32x4.add(odd, i32x4.dot_i16x8_s(v128.load(query, 48), v128.load(template, 48)));
  even = i32x4.add(even, i32x4.dot_i16x8_s(v128.load(query, 64), v128.load(template, 64)));
  odd = i32x4.add(odd, i32x4.dot_i16x8_s(v128.load(query, 80), v128.load(template, 80)));
  even = i32x4.add(even, i32x4.dot_i16x8_s(v128.load(query, 96), v128.load(template, 96)));
  odd = i32x4.add(odd, i32x4.dot_i16x8_s(v128.load(query, 112), v128.load(template, 112)));
  even = i32x4.add(even, i32x4.dot_i16x8_s(v128.load(query, 128), v128.load(template, 128)));
  odd = i32x4.add(odd, i32x4.dot_i16x8_s(v128.load(query, 144), v128.load(template, 144)));
  even = i32x4.add(even, i32x4.dot_i16x8_s(v128.load(query, 160), v128.load(template, 160)));
  odd = i32x4.add(odd, i32x4.dot_i16x8_s(v128.load(query, 176), v128.load(template, 176)));
  even = i32x4.add(even, i32x4.dot_i16x8_s(v128.load(query, 192), v128.load(template, 192)));
  odd = i32x4.add(odd, i32x4.dot_i16x8_s(v128.load(query, 208), v128.load(template, 208)));
  even = i32x4.add(even, i32x4.dot_i16x8_s(v128.load(query, 224), v128.load(template, 224)));
  odd = i32x4.add(odd, i32x4.dot_i16x8_s(v128.load(query, 240), v128.load(template, 240)));
  const sum = i32x4.add(even, odd);
  return (
    i32x4.extract_lane(sum, 0) +
    i32x4.extract_lane(sum, 1) +
    i32x4.extract_lane(sum, 2) +
    i32x4.extract_lane(sum, 3)
  );
}

function isWithin(query: usize, template: usize, bound: f32): bool {
  const end = template + TEMPLATE_BYTES;
  let sum = f32x4(0, 0, 0, 0);
  while (template < end) {
    sum = addSquares(sum, v128.load(template, 0), v128.load(query, 0));
    sum = addSquares(sum, v128.load(template, 16), v128.load(query, 16));
    sum = addSquares(sum, v128.load(template, 32), v128.load(query, 32));
    sum = addSquares(sum, v128.load(template, 48), v128.load(query, 48));
    sum = addSquares(sum, v128.load(template, 64), v128.load(query, 64));
    sum = addSquares(sum, v128.load(template, 80), v128.load(query, 80));
    sum = addSquares(sum, v128.load(template, 96), v128.load(query, 96));
    sum = addSquares(sum, v128.load(template, 112), v128.load(query, 112));
    if (total(sum) > bound) return false;
    template += STEP_BYTES;
    query += STEP_BYTES;
  }
  return true;
}

function addSquares(sum: v128, one: v128, other: v128): v128 {
  const difference = f32x4.sub(one, other);
  return f32x4.add(sum, f32x4.mul(difference, difference));
}

function total(lanes: v128): f32 {
  return (
    f32x4.extract_lane(lanes, 0) +
    f32x4.extract_lane(lanes, 1) +
    f32x4.extract_lane(lanes, 2) +
    f32x4.extract_lane(lanes, 3)
  );
}
