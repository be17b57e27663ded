import { make, makeSvg } from "./elements.ts";

/** A number on a line with a mark that parts two verdicts. */
export interface Scale {
  /** What the number is. */
  readonly name: string;
  readonly value: number;
  readonly most: number;
  readonly mark: number;
  /** On which side of the mark the faces are one person's. */
  readonly sameSide: "below" | "above";
}

const WIDTH = 600;
const [TOP, HEIGHT] = [14, 14];

/** Draws a scale with the place of its number. */
export function drawScale({ name, value, most, mark, sameSide }: Scale): HTMLElement {
  const at = (number: number) => (WIDTH * Math.min(number, most)) / most;
  const label = `${name} ${value.toFixed(4)} on a scale from 0 to ${most}; ${sameSide} ${mark} is the same person`;
  const [left, right] = sameSide === "below" ? ["same", "other"] : ["other", "same"];
  const drawing = makeSvg(
    "svg",
    { viewBox: `0 0 ${WIDTH} 50`, role: "img", "aria-label": label },
    makeSvg("rect", { x: 0, y: TOP, width: at(mark) - 3, height: HEIGHT, rx: HEIGHT / 2, class: left! }),
    makeSvg("rect", {
      x: at(mark) + 3,
      y: TOP,
      width: WIDTH - at(mark) - 3,
      height: HEIGHT,
      rx: HEIGHT / 2,
      class: right!,
    }),
    makeSvg("path", { d: `M${at(mark)} 6V36`, class: "mark" }),
    makeSvg("circle", { cx: at(value), cy: TOP + HEIGHT / 2, r: 11, class: "value" }),
  );
  const ends = make(
    "div",
    { class: "ends", "aria-hidden": "true" },
    make("span", {}, "0"),
    make("span", { class: "mark-text" }, String(mark)),
    make("span", {}, String(most)),
  );
  ends.style.setProperty("--mark", `${(100 * mark) / most}%`);
  return make("div", { class: "scale" }, drawing, ends);
}
