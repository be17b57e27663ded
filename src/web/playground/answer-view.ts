import type { AnswerData } from "./answers.ts";
import { make } from "./elements.ts";
import { drawHeatStrip } from "./heat-strip.ts";
import { drawScale } from "./scale.ts";

/** The distance below which two faces are one person's, and the largest there is (spec, 2.2). */
const MATCH_DISTANCE = 0.5;
const MOST_DISTANCE = 0.9;
/** The confidence above which they are (spec, 2.3). */
const COMPARE_CONFIDENCE = 0.6;

/** An answer in one sentence, for those who hear it. */
export function answerText(data: AnswerData): string {
  const { verdict, figure } = headlineOf(data);
  return figure ? `${verdict}, ${figure}.` : `${verdict}.`;
}

/** Draws what an operation has answered, without what is told of single faces. */
export function drawAnswer(data: AnswerData): Node[] {
  const { verdict, figure, kind } = headlineOf(data);
  const headline = make("div", { class: "headline" }, make("p", { class: `verdict ${kind ?? ""}` }, verdict));
  if (figure) headline.append(make("p", { class: "figure" }, figure));
  return [headline, ...drawingOf(data)];
}

interface Headline {
  readonly verdict: string;
  readonly figure?: string;
  readonly kind?: "same" | "other";
}

function headlineOf({ score, status, confidence, vector, detail }: AnswerData): Headline {
  if (score !== undefined) {
    const kind = Number(score) < MATCH_DISTANCE ? "same" : "other";
    return { verdict: capitalised(status ?? ""), figure: `distance ${score}`, kind };
  }
  if (confidence !== undefined) {
    const kind = Number(confidence) > COMPARE_CONFIDENCE ? "same" : "other";
    return { verdict: kind === "same" ? "Match" : "Not a match", figure: `confidence ${confidence}`, kind };
  }
  if (vector)
    return {
      verdict: "Vector",
      figure: `${vector.length} numbers, length ${Math.hypot(...vector).toFixed(2)}`,
    };
  const count = detail.images[0]?.faces.length ?? 0;
  return { verdict: count === 0 ? "No face" : `${count} ${count === 1 ? "face" : "faces"}` };
}

function drawingOf({ score, confidence, vector }: AnswerData): Node[] {
  if (score !== undefined) {
    const line = { most: MOST_DISTANCE, mark: MATCH_DISTANCE, sameSide: "below" } as const;
    return [drawScale({ name: "Distance", value: Number(score), ...line })];
  }
  if (confidence !== undefined) {
    const line = { most: 1, mark: COMPARE_CONFIDENCE, sameSide: "above" } as const;
    return [drawScale({ name: "Confidence", value: Number(confidence), ...line })];
  }
  return vector ? [drawHeatStrip(vector)] : [];
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
