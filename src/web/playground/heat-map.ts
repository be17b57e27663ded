import { makeSvg } from "../site/elements.ts";

/** Draws a vector as one row of cells: warm for positive numbers, cold for negative, opaque for large. */
export function drawHeatMap(vector: readonly number[]): SVGElement {
  const largest = Math.max(...vector.map(Math.abs));
  const cells = vector.map((value, i) =>
    makeSvg("rect", {
      x: i,
      width: 1,
      height: 1,
      class: value < 0 ? "cold" : "warm",
      opacity: (Math.abs(value) / largest).toFixed(3),
    }),
  );
  const label = `${vector.length} numbers from ${Math.min(...vector).toFixed(3)} to ${Math.max(...vector).toFixed(3)}`;
  return makeSvg(
    "svg",
    {
      viewBox: `0 0 ${vector.length} 1`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": label,
      class: "heat-map",
    },
    ...cells,
  );
}
