import { actionRow, make, makeButton } from "../../site/elements.ts";
import type { Comparison, FaceMatch } from "../responses.ts";
import { drawScale } from "../scale.ts";
import { MATCH_DISTANCE, MAX_DISTANCE, MAX_THRESHOLD, MIN_THRESHOLD } from "./curve.ts";
import { judge, ratesText } from "./verdict.ts";

/** As exact as the distances of the API. */
const STEP = 0.01;

/** The drawn threshold. */
export interface ThresholdControl {
  readonly element: HTMLElement;
  update(threshold: number): void;
}

/** Draws the distance of a match on its scale, the threshold that the user moves, and what it means. */
export function drawThreshold(
  response: Comparison,
  match: FaceMatch,
  onChange: (threshold: number) => void,
): ThresholdControl {
  const scale = make("div", {});
  const explanation = make("p", { class: "hint", id: "threshold-explanation" });
  const slider = make("input", {
    id: "threshold",
    type: "range",
    min: MIN_THRESHOLD,
    max: MAX_THRESHOLD,
    step: STEP,
    "aria-describedby": "threshold-explanation",
  });
  // Not an output element: the slider itself announces its value.
  const value = make("span", { class: "threshold-value" });
  const reset = makeButton(`Reset to ${MATCH_DISTANCE}`, () => {
    onChange(MATCH_DISTANCE);
    slider.focus();
  });
  slider.addEventListener("input", () => onChange(Number(slider.value)));
  const label = make("label", { for: "threshold" }, "Threshold");
  const element = make(
    "div",
    { class: "threshold-control small" },
    scale,
    make("div", { class: "threshold-line" }, label, slider, value),
    explanation,
    make("p", { class: "hint" }, CONFIDENCE),
    // In a line of its own, so that the slider does not change its size while it is moved.
    actionRow(reset),
  );
  return {
    element,
    update(threshold) {
      slider.value = String(threshold);
      scale.replaceChildren(drawScale(match.distance, threshold, MAX_DISTANCE));
      value.textContent = threshold.toFixed(2);
      slider.setAttribute("aria-valuetext", `${value.textContent}: ${judge(match, threshold).text}`);
      explanation.textContent = ratesText(response, match, threshold);
      reset.hidden = threshold === MATCH_DISTANCE;
    },
  };
}

const CONFIDENCE =
  "The confidence is how likely both faces are one person, if that is as likely beforehand as that they are two. It is 60% at a distance of 0.5.";
