import type { Box, Scale } from "../photos/geometry.ts";

/** The axis of each position and size, by the names of the messages. */
const AXES: Readonly<Record<string, "x" | "y">> = {
  ...{ x: "x", x1: "x", x2: "x", width: "x" },
  ...{ y: "y", y1: "y", y2: "y", height: "y" },
};

/** Converts all positions in a response from pixels of the sent photo to pixels of the original. */
export function toOriginal<Value>(value: Value, scale: Scale): Value {
  if (typeof value !== "object" || value === null || (scale.x === 1 && scale.y === 1)) return value;
  if (Array.isArray(value)) return value.map((item) => toOriginal(item, scale)) as Value;
  const entries = Object.entries(value).map(([name, member]) => [name, convert(name, member, scale)]);
  return Object.fromEntries(entries);
}

function convert(name: string, member: unknown, scale: Scale): unknown {
  if (typeof member !== "number") return toOriginal(member, scale);
  // That of a quality, in whole pixels of the shorter side.
  if (name === "size") return Math.floor(member * Math.min(scale.x, scale.y));
  const axis = AXES[name];
  return axis ? Math.round(10 * member * scale[axis]) / 10 : member;
}

/** The corners of a box as the query and the code samples write them. */
export function cornersOf({ x1, y1, x2, y2 }: Box): readonly [number, number, number, number] {
  return [x1, y1, x2, y2];
}
