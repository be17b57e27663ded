import type { Box } from "../../photos/geometry.ts";
import { make, makeButton } from "../../site/elements.ts";
import { capitalize } from "../../site/words.ts";
import { isSameFace } from "../faces.ts";
import type { Photo } from "../photo.ts";
import { drawHeadline } from "../response-summary.ts";
import type { Comparison } from "../responses.ts";
import type { Success } from "../send.ts";
import type { State, Store } from "../store.ts";
import { MatrixPanel } from "./matrix-panel.ts";
import { drawThreshold, type ThresholdControl } from "./threshold.ts";

/** What the view of a match causes. */
export interface MatchActions {
  /** Marks every face of the photo in a slot. */
  findFaces(slot: number): void;
  /** Selects a face in each photo and compares them. */
  selectPair(boxes: readonly [Box, Box]): void;
}

/** Creates the view: the verdict at the threshold of the user, which faces were compared, and the matrix of all faces. */
export function createMatchView(store: Store, { findFaces, selectPair }: MatchActions) {
  const { offer } = store.state;
  const hasMatrix = offer.has("analyze") && offer.has("embeddings");
  const matrix = new MatrixPanel(store, selectPair);
  let headline = make("div", {});
  const chosen = make("p", { class: "chosen-face small", tabindex: -1 });
  let drawn: Comparison | undefined;
  let threshold: ThresholdControl | undefined;
  /** The faces that the sentence about the source refers to. */
  let marked: Photo["faces"] | undefined;
  let shown: number | undefined;

  const drawChosen = (outcome: Success, { sourceBox }: Comparison, { slots }: State) => {
    const hadFocus = chosen.contains(document.activeElement);
    const { box, photo } = outcome.request.images[0]!;
    marked = slots[0].photo?.faces ?? [];
    const number = marked.findIndex((face) => isSameFace(face.box, sourceBox)) + 1;
    const which = box ? "the selected face" : "the most prominent face";
    const text =
      marked.length > 1 ? `Face ${number} of photo 1, ${which},` : `${capitalize(which)} of photo 1`;
    const isKnown = marked.length > 1 || photo?.sample || photo?.url || !offer.has("analyze");
    chosen.replaceChildren(
      `${text} was compared with each face of photo 2. `,
      ...(isKnown ? [] : [makeButton("Choose another face", () => findFaces(0))]),
      ...(marked.length > 1 ? ["Click another one in the photo to compare it."] : []),
    );
    if (hadFocus) chosen.focus();
  };
  return {
    /** Draws a new result. */
    draw(outcome: Success, response: Comparison): HTMLElement[] {
      const [nearest] = response.matches;
      drawn = response;
      headline = make("div", {});
      shown = undefined;
      marked = undefined;
      threshold = nearest && drawThreshold(response, nearest, (value) => store.update({ threshold: value }));
      return [
        headline,
        ...(threshold ? [threshold.element] : []),
        chosen,
        ...(outcome.isStored || !hasMatrix ? [] : matrix.draw(response)),
      ];
    },
    /** Shows the changed state beside the drawn result. */
    update(state: State): void {
      if (!drawn || !state.outcome?.isSuccess) return;
      if (state.slots[0].photo?.faces !== marked) drawChosen(state.outcome, drawn, state);
      if (state.threshold !== shown) {
        headline.replaceChildren(drawHeadline(drawn, state.threshold));
        threshold?.update(state.threshold);
        shown = state.threshold;
      }
      if (hasMatrix && !state.outcome.isStored) matrix.update(state.threshold);
    },
  };
}
