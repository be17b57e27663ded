import { Random } from "../random.ts";
import { HTTP1_GENERATORS } from "./http1-cases.ts";
import { HTTP2_GENERATORS } from "./http2-cases.ts";
import { type EdgeCase, interrupt, type Material } from "./script.ts";

/** One case in this many is cut off at a random byte. */
const INTERRUPTED = 5;

/** Gives one case of a seed, the same each time. */
export function edgeCase(seed: number, number: number, material: Material): EdgeCase {
  const random = new Random(seed * 1_000_003 + number);
  const protocol = random.pick(["http1", "http2"] as const);
  const [kind, generate] = random.pick(protocol === "http1" ? HTTP1_GENERATORS : HTTP2_GENERATORS);
  const steps = generate(random, material);
  return {
    number,
    kind: `${protocol}.${kind}`,
    protocol,
    steps: random.below(INTERRUPTED) === 0 ? interrupt(random, steps) : steps,
  };
}

/** Gives the cases of a seed in order. */
export function* edgeCases(seed: number, material: Material, count: number): Generator<EdgeCase> {
  for (let number = 0; number < count; number++) yield edgeCase(seed, number, material);
}
