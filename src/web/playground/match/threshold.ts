import { actionRow, make, makeButton } from "../../site/elements.ts";
import { shareText } from "../../site/rates.ts";
import { readFromAddress, writeToAddress } from "../address.ts";
import { drawScale } from "../scale.ts";
import {
  CURVE_MODEL,
  falseMatchRateAt,
  MATCH_DISTANCE,
  MAX_DISTANCE,
  MAX_THRESHOLD,
  MIN_THRESHOLD,
} from "./curve.ts";

const STEP = 0.005;

/**
 * Creates the threshold that the user sets. It stays as it is from one result to the next. `onChange` is called when the
 * user moves it.
 */
export function createThreshold(onChange: () => void) {
  let value = thresholdFrom(readFromAddress("threshold"));
  return {
    get value() {
      return value;
    },
    /** Draws a distance, made by networks with this identity, on its scale, and the slider. */
    draw(distance: number, model: string) {
      const scale = make("div", {});
      const explanation = make("p", { class: "hint", id: "threshold-explanation" });
      const slider = make("input", {
        id: "threshold",
        type: "range",
        min: MIN_THRESHOLD,
        max: MAX_THRESHOLD,
        step: STEP,
        value,
        "aria-describedby": "threshold-explanation",
      });
      // Not an output element: the slider itself announces its value.
      const verdict = make("span", { class: "threshold-value" });
      const reset = makeButton(`Reset to ${MATCH_DISTANCE}`, () => {
        set(MATCH_DISTANCE);
        slider.focus();
      });
      const update = () => {
        const range = { max: MAX_DISTANCE, threshold: value, matchSide: "below" } as const;
        scale.replaceChildren(drawScale({ name: "Distance", value: distance, ...range }));
        verdict.textContent = `${value.toFixed(3)}: ${distance < value ? "match" : "no match"}`;
        explanation.textContent = explain(value, model);
        slider.setAttribute("aria-valuetext", verdict.textContent);
        reset.hidden = value === MATCH_DISTANCE;
      };
      const set = (next: number) => {
        value = next;
        writeToAddress("threshold", value === MATCH_DISTANCE ? undefined : String(value));
        slider.value = String(next);
        update();
        onChange();
      };
      slider.addEventListener("input", () => set(Number(slider.value)));
      update();
      const label = make("label", { for: "threshold" }, "Threshold");
      return make(
        "div",
        { class: "threshold-control small" },
        scale,
        make("div", { class: "threshold-line" }, label, slider, verdict),
        explanation,
        // In a line of its own, so that the slider does not change its size while it is moved.
        actionRow(reset),
      );
    },
  };
}

function thresholdFrom(text: string | undefined): number {
  const value = Number(text);
  return value >= MIN_THRESHOLD && value <= MAX_THRESHOLD ? value : MATCH_DISTANCE;
}

function explain(threshold: number, model: string): string {
  if (model !== CURVE_MODEL) return "The rate of false matches was not measured for this model.";
  const { rate, isEstimated } = falseMatchRateAt(threshold);
  const source = isEstimated ? "estimated" : "measured";
  return `At this threshold, ${shareText(rate, "pairs of different adults")} match by mistake (${source}); children and older people more often.`;
}
