import { estimatesOf } from "../../photos/attributes.ts";
import { make, makeButton } from "../../site/elements.ts";
import { plural } from "../../site/words.ts";
import type { Face } from "../responses.ts";
import type { BatchItem } from "./batch-item.ts";

/** More faces than this are only counted. */
const MAX_DESCRIBED_FACES = 2;

/** Creates the row of a photo. `onOpen` shows the photo on its own. */
export function createBatchRow(item: BatchItem, onOpen: () => void) {
  const picture = make("td", { class: "picture" });
  const result = make("td", { class: "outcome" });
  const open = makeButton("Open", onOpen, { subject: ` ${item.file.name}` });
  const name = make("th", { scope: "row", title: item.file.name }, drawPath(item.file.name));
  const element = make("tr", {}, picture, name, result, make("td", { class: "action" }, open));
  const update = () => {
    const { state, thumbnail } = item;
    element.dataset.state = state.name;
    if (thumbnail && !picture.firstChild) picture.append(make("img", { src: thumbnail, alt: "" }));
    result.replaceChildren(...describe(item));
  };
  update();
  /** Shows the current state of the photo. */
  return { element, update };
}

/** Draws a path. If there is too little room, its folders are cut off, not the name of the file. */
function drawPath(path: string): HTMLElement {
  const nameStart = path.lastIndexOf("/") + 1;
  const folder = make("span", { class: "batch-folder" }, path.slice(0, nameStart));
  const file = make("span", { class: "batch-file" }, path.slice(nameStart));
  return make("span", { class: "batch-path" }, ...(nameStart > 0 ? [folder] : []), file);
}

function describe({ state }: BatchItem): (Node | string)[] {
  if (state.name === "waiting") return ["Waiting"];
  if (state.name === "running") return ["Analysing…"];
  if (state.name === "failed") {
    const { message, code } = state.error;
    return [message, ...(code ? [" ", make("code", {}, code)] : [])];
  }
  const faces = state.analysis.faces;
  if (faces.length === 0) return ["No face found"];
  return [make("strong", {}, plural(faces.length, "face")), ...describeFaces(faces)];
}

function describeFaces(faces: readonly Face[]): (Node | string)[] {
  const vector = faces[0]?.embedding;
  if (vector) return [`, ${vector.values.length} numbers each`];
  const described = faces.slice(0, MAX_DESCRIBED_FACES).map((face) =>
    estimatesOf(face)
      .map(({ text, percent }) => `${text} (${percent})`)
      .join(" "),
  );
  const texts = described.filter(Boolean);
  const more = faces.length > MAX_DESCRIBED_FACES && texts.length > 0 ? [", …"] : [];
  // A line must not end within an age range.
  const parts = texts.flatMap((text, i) => [
    i > 0 ? ", " : ": ",
    make("span", { class: "face-words" }, text),
  ]);
  return [...parts, ...more];
}
