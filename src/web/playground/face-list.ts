import type { Box } from "../photos/geometry.ts";
import { make, makeButton } from "../site/elements.ts";
import { drawFaceRow } from "./face-row.ts";
import { facesFrom, isSameFace } from "./faces.ts";
import { percentText } from "./match/curve.ts";
import { isComparison } from "./responses.ts";
import type { Success } from "./send.ts";
import type { State } from "./store.ts";

/** More faces than this are shown only on demand. */
const MAX_ROWS = 6;

/** The faces of a response. */
export interface FaceList {
  readonly elements: readonly HTMLElement[];
  /** Shows which faces are selected. */
  update(state: State): void;
}

interface Row {
  readonly element: HTMLElement;
  readonly selectButton: HTMLButtonElement;
  readonly slot: number;
  readonly box: Box;
}

/** Draws a row for every face of a response. Rows beyond the first few are drawn when the user asks for them. */
export function drawFaceList(
  { slots }: State,
  outcome: Success,
  selectFace: (slot: number, box: Box) => void,
): FaceList {
  const drawers = rowDrawers(slots, outcome, selectFace);
  const rows = drawers.slice(0, MAX_ROWS).map((draw) => draw());
  const list = make("ol", { class: "plain-list face-rows" }, ...rows.map(({ element }) => element));
  let latest: State | undefined;
  const update = (state: State) => {
    latest = state;
    for (const { selectButton, slot, box } of rows)
      selectButton.setAttribute(
        "aria-pressed",
        String(isSameFace(state.slots[slot]?.photo?.selectedBox, box)),
      );
  };
  if (drawers.length <= MAX_ROWS) return { elements: [list], update };
  const more = makeButton(`Show all ${drawers.length} faces`, () => {
    const added = drawers.slice(MAX_ROWS).map((draw) => draw());
    rows.push(...added);
    list.append(...added.map(({ element }) => element));
    if (latest) update(latest);
    more.remove();
    // The pressed button is gone; go on with the first new face.
    added[0]?.selectButton.focus({ preventScroll: true });
  });
  return { elements: [list, more], update };
}

function rowDrawers(
  slots: State["slots"],
  { request, response }: Success,
  selectFace: (slot: number, box: Box) => void,
): (() => Row)[] {
  const images = facesFrom(response);
  return images.flatMap((faces, image) => {
    const { slot, photo } = request.images[image]!;
    const known = slots[slot]?.photo?.faces ?? [];
    return faces.map((face, i) => () => {
      const { box } = face;
      // The same number as on the photo, which may know more faces than this response.
      const number = known.findIndex((one) => isSameFace(one.box, box)) + 1 || i + 1;
      const title = images.length > 1 ? `Photo ${slot + 1}, face ${number}` : `Face ${number}`;
      const selectButton = makeButton("Select", () => selectFace(slot, box), { subject: ` ${title}` });
      const texts = { title, ...describeIn(response, image, i) };
      return { element: drawFaceRow(photo!, face, texts, selectButton), selectButton, slot, box };
    });
  });
}

/** Says where a face is in a response, and what the response tells about it. */
function describeIn(response: Success["response"], image: number, index: number) {
  if (!isComparison(response)) return { key: `response.faces[${index}]` };
  if (image === 0) return { key: "response.sourceBox" };
  const { distance, confidence } = response.matches[index]!;
  const summary = `Distance ${distance.toFixed(2)}, confidence ${percentText(confidence)}`;
  return { key: `response.matches[${index}]`, summary };
}
