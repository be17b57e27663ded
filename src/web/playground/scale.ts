import { make, makeSvg } from "../site/elements.ts";

/** A value on a scale from 0 to `max`, with the threshold between match and no match. */
export interface Scale {
  readonly name: string;
  readonly value: number;
  readonly max: number;
  readonly threshold: number;
  /** The side of the threshold that is a match. */
  readonly matchSide: "below" | "above";
}

const WIDTH = 600;
const [TOP, HEIGHT] = [14, 14];
/** Half the gap at the threshold. */
const GAP = 3;

/** Draws the scale with its threshold and value. */
export function drawScale({ name, value, max, threshold, matchSide }: Scale): HTMLElement {
  const x = (number: number) => (WIDTH * Math.min(number, max)) / max;
  const label = `${name} ${value.toFixed(4)} on a scale from 0 to ${max}; ${matchSide} ${threshold} is a match`;
  const [left, right] = matchSide === "below" ? ["match", "no-match"] : ["no-match", "match"];
  const bar = { y: TOP, height: HEIGHT, rx: HEIGHT / 2 };
  const drawing = makeSvg(
    "svg",
    { viewBox: `0 0 ${WIDTH} 50`, role: "img", "aria-label": label },
    makeSvg("rect", { ...bar, x: 0, width: x(threshold) - GAP, class: left }),
    makeSvg("rect", { ...bar, x: x(threshold) + GAP, width: WIDTH - x(threshold) - GAP, class: right }),
    makeSvg("path", { d: `M${x(threshold)} 6V36`, class: "threshold" }),
    makeSvg("circle", { cx: x(value), cy: TOP + HEIGHT / 2, r: 11, class: "value" }),
  );
  const ticks = make(
    "div",
    { class: "ticks", "aria-hidden": "true" },
    make("span", {}, "0"),
    make("span", { class: "threshold-text" }, String(threshold)),
    make("span", {}, String(max)),
  );
  ticks.style.setProperty("--threshold", `${(100 * threshold) / max}%`);
  return make("div", { class: "scale" }, drawing, ticks);
}
