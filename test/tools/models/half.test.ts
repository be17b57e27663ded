import { describe, expect, it } from "vitest";
import { floatFromHalf, halfFromFloat } from "../../../tools/models/half.ts";

const INFINITY = 0x7c00;
const SIGN = 0x8000;
const LARGEST = 0x7bff;
const SMALLEST_NORMAL = 0x0400;

const isNaNHalf = (bits: number) => (bits & ~SIGN) > INFINITY;

describe("floatFromHalf", () => {
  it.each([
    [0x0000, 0],
    [0x0001, 2 ** -24],
    [0x03ff, 1023 * 2 ** -24],
    [SMALLEST_NORMAL, 2 ** -14],
    [0x3555, 0.333251953125],
    [0x3c00, 1],
    [0xc000, -2],
    [LARGEST, 65504],
    [INFINITY, Number.POSITIVE_INFINITY],
    [SIGN | INFINITY, Number.NEGATIVE_INFINITY],
    [0x7e00, Number.NaN],
  ])("reads %i as %f", (bits, value) => {
    expect(floatFromHalf(bits)).toBe(value);
  });

  it("keeps the sign of zero", () => {
    expect(floatFromHalf(SIGN)).toBe(-0);
  });
});

describe("halfFromFloat", () => {
  it("round-trips every half except NaN", () => {
    const all = Array.from({ length: 0x10000 }, (_, bits) => bits).filter((bits) => !isNaNHalf(bits));
    expect(all).toHaveLength(0x10000 - 2 * 0x3ff);
    expect(all.filter((bits) => halfFromFloat(floatFromHalf(bits)) !== bits)).toEqual([]);
  });

  it("keeps NaN", () => {
    const all = Array.from({ length: 0x10000 }, (_, bits) => bits).filter(isNaNHalf);
    expect(all.filter((bits) => !isNaNHalf(halfFromFloat(floatFromHalf(bits))))).toEqual([]);
  });

  it("rounds ties to even", () => {
    const wrong = Array.from({ length: LARGEST }, (_, bits) => bits).filter((bits) => {
      const halfway = (floatFromHalf(bits) + floatFromHalf(bits + 1)) / 2;
      const even = bits % 2 === 0 ? bits : bits + 1;
      return halfFromFloat(halfway) !== even || halfFromFloat(-halfway) !== (SIGN | even);
    });
    expect(wrong).toEqual([]);
  });

  it("rounds other numbers to the nearest half", () => {
    const wrong = Array.from({ length: LARGEST }, (_, bits) => bits).filter((bits) => {
      const halfway = (floatFromHalf(bits) + floatFromHalf(bits + 1)) / 2;
      return (
        halfFromFloat(nextFloat(halfway, -1)) !== bits || halfFromFloat(nextFloat(halfway, 1)) !== bits + 1
      );
    });
    expect(wrong).toEqual([]);
  });

  it.each([
    ["the last number nearer to the largest half", nextFloat(65520, -1), LARGEST],
    ["the number halfway to the next power of two", 65520, INFINITY],
    ["a number far too large", 1e38, INFINITY],
    ["infinity", Number.POSITIVE_INFINITY, INFINITY],
  ])("encodes %s with either sign", (_, value, bits) => {
    expect(halfFromFloat(value)).toBe(bits);
    expect(halfFromFloat(-value)).toBe(SIGN | bits);
  });

  it.each([
    ["the smallest subnormal", 2 ** -24, 0x0001],
    ["a number just over half of it", nextFloat(2 ** -25, 1), 0x0001],
    ["exactly half of it", 2 ** -25, 0x0000],
    ["a number far too small", 1e-38, 0x0000],
    ["the largest subnormal", 1023 * 2 ** -24, 0x03ff],
    ["what lies between it and the smallest normal", 1023.75 * 2 ** -24, SMALLEST_NORMAL],
  ])("keeps gradual underflow: %s", (_, value, bits) => {
    expect(halfFromFloat(value)).toBe(bits);
    expect(halfFromFloat(-value)).toBe(SIGN | bits);
  });
});

/** The float32 number next to a positive one. */
function nextFloat(value: number, step: 1 | -1): number {
  const float = Float32Array.of(value);
  new Uint32Array(float.buffer)[0]! += step;
  return float[0]!;
}
