import { make } from "../site/elements.ts";
import { capitalize, plural } from "../site/words.ts";
import { drawHeatMap } from "./heat-map.ts";
import type { ResponseData } from "./responses.ts";
import { drawScale } from "./scale.ts";

/** Distances below the threshold are a match; the maximum ends the scale (spec, 2.2). */
const MATCH_DISTANCE = 0.5;
const MAX_DISTANCE = 0.9;
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
  const headline = make("div", { class: "headline" }, make("p", { class: `verdict ${kind ?? ""}` }, verdict));
  if (figure) headline.append(make("p", { class: "figure" }, figure));
  return [headline, ...drawChart(data)];
}

interface Headline {
  readonly verdict: string;
  readonly figure?: string;
  readonly kind?: "match" | "no-match";
}

function headlineFrom({ score, status, confidence, vector, detail }: ResponseData): Headline {
  if (score !== undefined) {
    const kind = Number(score) < MATCH_DISTANCE ? "match" : "no-match";
    return { verdict: capitalize(status ?? ""), figure: `distance ${score}`, kind };
  }
  if (confidence !== undefined) {
    const kind = Number(confidence) > MATCH_CONFIDENCE ? "match" : "no-match";
    return { verdict: kind === "match" ? "Match" : "Not a match", figure: `confidence ${confidence}`, kind };
  }
  if (vector) {
    const norm = Math.hypot(...vector).toFixed(2);
    return { verdict: "Vector", figure: `${vector.length} numbers, norm ${norm}` };
  }
  const count = detail.images[0]?.faces.length ?? 0;
  return { verdict: count === 0 ? "No face found" : plural(count, "face") };
}

function drawChart({ score, confidence, vector }: ResponseData): Node[] {
  if (score !== undefined) {
    const scale = { max: MAX_DISTANCE, threshold: MATCH_DISTANCE, matchSide: "below" } as const;
    return [drawScale({ name: "Distance", value: Number(score), ...scale })];
  }
  if (confidence !== undefined) {
    const scale = { max: 1, threshold: MATCH_CONFIDENCE, matchSide: "above" } as const;
    return [drawScale({ name: "Confidence", value: Number(confidence), ...scale })];
  }
  return vector ? [drawHeatMap(vector)] : [];
}
