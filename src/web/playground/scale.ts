import { make, makeSvg } from "../site/elements.ts";

const WIDTH = 600;
const [TOP, HEIGHT] = [14, 14];
/** Half the gap at the threshold. */
const GAP = 3;

/** Draws a distance on a scale from 0 to `max`, with the threshold below which it is a match. */
export function drawScale(distance: number, threshold: number, max: number): HTMLElement {
  const x = (number: number) => (WIDTH * Math.min(number, max)) / max;
  const label = `Distance ${distance.toFixed(2)} on a scale from 0 to ${max}; below ${threshold} is a match`;
  const bar = { y: TOP, height: HEIGHT, rx: HEIGHT / 2 };
  const drawing = makeSvg(
    "svg",
    { viewBox: `0 0 ${WIDTH} 50`, role: "img", "aria-label": label },
    makeSvg("rect", { ...bar, x: 0, width: x(threshold) - GAP, class: "match" }),
    makeSvg("rect", {
      ...bar,
      x: x(threshold) + GAP,
      width: WIDTH - x(threshold) - GAP,
      class: "no-match",
    }),
    makeSvg("path", { d: `M${x(threshold)} 6V36`, class: "threshold" }),
    makeSvg("circle", { cx: x(distance), cy: TOP + HEIGHT / 2, r: 11, class: "value" }),
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
