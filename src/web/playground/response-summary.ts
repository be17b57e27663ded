import { make } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import { MATCH_DISTANCE } from "./match/curve.ts";
import { figureText, judge } from "./match/verdict.ts";
import { type Analysis, type Comparison, isComparison } from "./responses.ts";

/** A response in a few words. */
interface Headline {
  readonly verdict: string;
  readonly kind?: "match good" | "no-match bad";
  /** What else the user must know of the verdict. */
  readonly notes: readonly string[];
  readonly figure?: string | undefined;
}

/** What to do about a photo without a face. */
const NO_FACE_ADVICE =
  "Use a photo in which a face is larger, sharper and in better light. If the photo was scaled down, turn that off in the options to find very small faces.";

/** Summarizes a response in one sentence for screen readers. */
export function summaryText(response: Analysis | Comparison, threshold: number): string {
  const { verdict, figure } = headlineFrom(response, threshold);
  return figure ? `${verdict}, ${figure}.` : `${verdict}.`;
}

/** Draws the headline of a response, by a threshold if it is a comparison. */
export function drawHeadline(response: Analysis | Comparison, threshold: number): HTMLElement {
  const { verdict, figure, kind, notes } = headlineFrom(response, threshold);
  const top = make("div", { class: "panel-top" }, make("p", { class: `verdict ${kind ?? ""}` }, verdict));
  if (figure) top.append(make("p", { class: "figure" }, figure));
  return make("div", { class: "headline" }, top, ...notes.map((note) => make("p", {}, note)));
}

function headlineFrom(response: Analysis | Comparison, threshold: number): Headline {
  if (!isComparison(response)) return analysisHeadline(response);
  const [nearest] = response.matches;
  if (!nearest) return { verdict: "No face found in photo 2", notes: [NO_FACE_ADVICE] };
  const { text, isMatch, advice } = judge(nearest, threshold);
  const isDefault = threshold === MATCH_DISTANCE;
  return {
    verdict: isDefault ? text : `${text}; the service’s default is ${MATCH_DISTANCE}`,
    kind: isMatch ? "match good" : "no-match bad",
    notes: advice ? [advice] : [],
    figure: figureText(nearest),
  };
}

function analysisHeadline({ faces, facesFound }: Analysis): Headline {
  if (faces.length === 0) return { verdict: "No face found", notes: [NO_FACE_ADVICE] };
  const { embedding } = faces[0]!;
  const count = faces.length < facesFound ? `${faces.length} of ${plural(facesFound, "face")}` : undefined;
  return {
    verdict: count ?? plural(faces.length, "face"),
    notes: [],
    figure: embedding && `${embedding.values.length} numbers each`,
  };
}
