import { makeSvg } from "./elements.ts";

/** Draws the numbers of a vector as cells: warm above zero, cold below, stronger the further away. */
export function drawHeatStrip(vector: readonly number[]): SVGElement {
  const strongest = Math.max(...vector.map(Math.abs));
  const cells = vector.map((value, i) =>
    makeSvg("rect", {
      x: i,
      width: 1,
      height: 1,
      class: value < 0 ? "cold" : "warm",
      opacity: (Math.abs(value) / strongest).toFixed(3),
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
      class: "heat",
    },
    ...cells,
  );
}
