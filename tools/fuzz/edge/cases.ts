import { Random } from "../../support/random.ts";
import { HTTP1_GENERATORS } from "./http1-cases.ts";
import { HTTP2_GENERATORS } from "./http2-cases.ts";
import { type EdgeCase, type Fixtures, interrupt } from "./script.ts";

/** One case in this many is interrupted at a random byte. */
const INTERRUPT_INTERVAL = 5;

/** Generates one case. The same seed and number give the same case. */
export function edgeCase(seed: number, number: number, fixtures: Fixtures): EdgeCase {
  const random = new Random(seed * 1_000_003 + number);
  const protocol = random.pick(["http1", "http2"] as const);
  const [kind, generate] = random.pick(protocol === "http1" ? HTTP1_GENERATORS : HTTP2_GENERATORS);
  const steps = generate(random, fixtures);
  return {
    number,
    kind: `${protocol}.${kind}`,
    protocol,
    steps: random.below(INTERRUPT_INTERVAL) === 0 ? interrupt(random, steps) : steps,
  };
}

/** Generates the first cases of a seed. */
export function* edgeCases(seed: number, fixtures: Fixtures, count: number): Generator<EdgeCase> {
  for (let number = 0; number < count; number++) yield edgeCase(seed, number, fixtures);
}
