// The search kernel in AssemblyScript. tools/kernels.mjs compiles it into ../kernels.wasm.js, whose interface is
// ../kernels.wasm.d.ts. Addresses are byte offsets into the memory; the caller guarantees that they are valid.
import { TEMPLATE_BYTES } from "./constants";

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
