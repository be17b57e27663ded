import { createRandom } from "../tools/support/random.ts";

const DIMENSIONS = 128;
/** The length of every vector of the core. */
const LENGTH = 0.45;
/** The distance between a template and the centre of its person. Two templates of a person are then about 0.35 apart. */
const SPREAD = 0.28;

/** Templates in uniformly random directions, one per person. The same seed gives the same templates. */
export function* randomTemplates(count: number, seed: number): Generator<Float32Array> {
  const random = createRandom(seed);
  for (let i = 0; i < count; i++) yield randomVector(random);
}

/** Templates of several people, with the same number for each person, ordered by person. */
export function* clusteredTemplates(
  people: number,
  templatesPerPerson: number,
  seed: number,
): Generator<Float32Array> {
  const random = createRandom(seed);
  for (let i = 0; i < people; i++) {
    const centre = randomVector(random);
    for (let j = 0; j < templatesPerPerson; j++) {
      const offset = randomVector(random);
      yield scaleToLength(centre.map((value, d) => value + (offset[d]! * SPREAD) / LENGTH));
    }
  }
}

function randomVector(random: () => number): Float32Array {
  const values = new Float32Array(DIMENSIONS);
  // The sum of four uniform numbers is close to normal, which makes the direction close to uniform.
  for (let i = 0; i < DIMENSIONS; i++) values[i] = random() + random() + random() + random() - 2;
  return scaleToLength(values);
}

function scaleToLength(values: Float32Array): Float32Array {
  const scale = LENGTH / Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  return values.map((value) => value * scale);
}
