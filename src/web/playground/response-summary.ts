import { make } from "../site/elements.ts";
import { capitalize, plural } from "../site/words.ts";
import { drawHeatMap } from "./heat-map.ts";
import { confidenceAt, MATCH_DISTANCE, percentText } from "./match/curve.ts";
import type { ResponseData } from "./responses.ts";
import { drawScale } from "./scale.ts";

/** Confidences above the threshold are a match (spec, 2.3). */
const MATCH_CONFIDENCE = 0.6;

/** Summarizes a response in one sentence for screen readers. */
export function summaryText(data: ResponseData): string {
  const { verdict, figure } = headlineFrom(data);
  return figure ? `${verdict}, ${figure}.` : `${verdict}.`;
}

/** Draws the headline of a response and its scale or heat map. The cards of the faces are separate. */
export function drawSummary(data: ResponseData): Node[] {
  const { verdict, figure, kind } = headlineFrom(data);
  const headline = make(
    "div",
    { class: "panel-top headline" },
    make("p", { class: `verdict ${kind ?? ""}` }, verdict),
  );
  if (figure) headline.append(make("p", { class: "figure" }, figure));
  return [headline, ...drawChart(data)];
}

interface Headline {
  readonly verdict: string;
  readonly figure?: string;
  readonly kind?: "match good" | "no-match bad";
}

function headlineFrom({ score, status, confidence, vector, detail }: ResponseData): Headline {
  if (score !== undefined) {
    const kind = Number(score) < MATCH_DISTANCE ? "match good" : "no-match bad";
    const figure = `distance ${score}, confidence ${percentText(confidenceAt(Number(score)))}`;
    return { verdict: capitalize(status ?? ""), figure, kind };
  }
  if (confidence !== undefined) {
    const kind = Number(confidence) > MATCH_CONFIDENCE ? "match good" : "no-match bad";
    return {
      verdict: kind === "match good" ? "Match" : "Not a match",
      figure: `confidence ${confidence}`,
      kind,
    };
  }
  if (vector) {
    const norm = Math.hypot(...vector).toFixed(2);
    return { verdict: "Vector", figure: `${vector.length} numbers, norm ${norm}` };
  }
  const count = detail.images[0]?.faces.length ?? 0;
  return { verdict: count === 0 ? "No face found" : plural(count, "face") };
}

/** The distance of a match is drawn with its threshold, by the view of the match. */
function drawChart({ confidence, vector }: ResponseData): Node[] {
  if (confidence !== undefined) {
    const scale = { max: 1, threshold: MATCH_CONFIDENCE, matchSide: "above" } as const;
    return [drawScale({ name: "Confidence", value: Number(confidence), ...scale })];
  }
  return vector ? [drawHeatMap(vector)] : [];
}
