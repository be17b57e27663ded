import { make, makeButton } from "../../site/elements.ts";
import { isSameFace } from "../faces.ts";
import { canFindFaces } from "../offer.ts";
import type { Photo } from "../photo.ts";
import type { Rectangle } from "../responses.ts";
import type { Success } from "../send.ts";
import type { State, Store } from "../store.ts";
import { MatrixPanel } from "./matrix-panel.ts";
import { createThreshold } from "./threshold.ts";

/** What the view of a match causes. */
export interface MatchActions {
  /** Marks every face of the photo in a slot. */
  findFaces(slot: number): void;
  /** Selects a face in each photo and compares them. */
  selectPair(boxes: readonly [Rectangle, Rectangle]): void;
}

/** Creates the view: the threshold, which faces were compared, and the matrix of all faces. */
export function createMatchView(store: Store, { findFaces, selectPair }: MatchActions) {
  const threshold = createThreshold(() => matrix.update(threshold.value));
  const { offer } = store.state;
  const hasMatrix = offer.has("analyze") && offer.has("embeddings");
  const matrix = new MatrixPanel(store, selectPair);
  let drawn: Success | undefined;
  let chosen: readonly HTMLElement[] = [];

  let marked: readonly (Photo["faces"] | undefined)[] = [];

  const drawChosen = ({ slots }: State) => {
    marked = slots.map(({ photo }) => photo?.faces);
    for (const [i, line] of chosen.entries()) {
      const { slot } = drawn!.request.images[i]!;
      const hadFocus = line.contains(document.activeElement);
      const onFind = canFindFaces(offer) ? () => findFaces(slot) : undefined;
      line.replaceChildren(...describeChoice(drawn!, i, marked[slot] ?? [], onFind));
      if (hadFocus) line.focus();
    }
  };
  return {
    /** Draws a new result. */
    draw(outcome: Success) {
      const { score, detail } = outcome.response.data;
      drawn = outcome;
      chosen = outcome.request.images.map(() => make("p", { class: "chosen-face small", tabindex: -1 }));
      drawChosen(store.state);
      return [
        threshold.draw(Number(score), detail.model),
        ...chosen,
        ...(outcome.isStored || !hasMatrix ? [] : matrix.draw(outcome, threshold.value)),
      ];
    },
    /** Shows the changed state beside the drawn result. */
    update(state: State) {
      if (state.slots.some(({ photo }, i) => photo?.faces !== marked[i])) drawChosen(state);
      matrix.refresh();
    },
  };
}

/** Says which face of a photo was compared, and how to choose another. Without `onFind`, faces cannot be found. */
function describeChoice(
  { request, response: { data } }: Success,
  image: number,
  known: Photo["faces"],
  onFind: (() => void) | undefined,
): (Node | string)[] {
  const { slot, box, photo } = request.images[image]!;
  const { faces_found: found, faces } = data.detail.images[image]!;
  const used = faces[0]?.face_rectangle;
  const count = Math.max(found, known.length);
  const name = `Photo ${slot + 1}: `;
  if (count <= 1) return [`${name}its only face was compared.`];
  const number = used ? known.findIndex(({ rectangle }) => isSameFace(rectangle, used)) + 1 : 0;
  const which = box ? "the face that you selected" : `the most prominent of ${count} faces`;
  const text = `${name}${number > 0 ? `face ${number}, ` : ""}${which}. `;
  if (photo?.url) return [text];
  if (known.length >= count) return [text, "Click another one in the photo to compare it."];
  return [text, ...(onFind ? [makeButton("Choose another face", onFind)] : [])];
}
