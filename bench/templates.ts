const DIMENSIONS = 128;
/** As every vector of the core has. */
const LENGTH = 0.45;
/** How far photographs of one person lie from their middle; two of them are then about 0.35 apart. */
const SPREAD = 0.28;

/** Templates of strangers, in all directions alike, the same for the same seed. */
export function* randomTemplates(count: number, seed: number): Generator<Float32Array> {
  const random = randomFrom(seed);
  for (let i = 0; i < count; i++) yield direction(random);
}

/** Templates of so many people, so many of each, one person after the other. */
export function* clusteredTemplates(people: number, each: number, seed: number): Generator<Float32Array> {
  const random = randomFrom(seed);
  for (let i = 0; i < people; i++) {
    const middle = direction(random);
    for (let j = 0; j < each; j++) {
      const step = direction(random);
      yield scaled(middle.map((value, d) => value + (step[d]! * SPREAD) / LENGTH));
    }
  }
}

function direction(random: () => number): Float32Array {
  const numbers = new Float32Array(DIMENSIONS);
  // The sum of a few even numbers is normal enough, which makes all directions alike.
  for (let i = 0; i < DIMENSIONS; i++) numbers[i] = random() + random() + random() + random() - 2;
  return scaled(numbers);
}

function scaled(numbers: Float32Array): Float32Array {
  const scale = LENGTH / Math.sqrt(numbers.reduce((sum, value) => sum + value * value, 0));
  return numbers.map((value) => value * scale);
}

/** Even random numbers from 0 to 1, by a linear congruential generator. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
