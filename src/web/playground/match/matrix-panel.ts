import type { Box } from "../../photos/geometry.ts";
import { PhotoError } from "../../photos/open-photo.ts";
import { actionRow, make, makeButton } from "../../site/elements.ts";
import { RequestError } from "../../site/request-error.ts";
import { findFace, isSameFace, mergeFaces } from "../faces.ts";
import type { Photo } from "../photo.ts";
import type { Comparison, Face } from "../responses.ts";
import { type Store, updateSlot } from "../store.ts";
import { distanceOf, embedFaces } from "./embeddings.ts";
import { type DrawnMatrix, drawMatrix, MAX_FACES, type MatrixSide } from "./face-matrix.ts";

type Pair<Item> = readonly [Item, Item];

/** The matrix of all faces of two photos, which is drawn when the user asks for it. */
export class MatrixPanel {
  readonly #store: Store;
  readonly #onSelect: (boxes: Pair<Box>) => void;
  /** The faces by photo, so that another pair of the same photos needs no request. */
  readonly #faces = new WeakMap<HTMLImageElement, readonly Face[]>();
  #root = make("div", {});
  #response: Comparison | undefined;
  #matrix: DrawnMatrix | undefined;
  #threshold = 0;
  #loading: AbortController | undefined;
  /** The numbers of the faces in the drawn matrix. */
  #numbers = "";

  constructor(store: Store, onSelect: (boxes: Pair<Box>) => void) {
    this.#store = store;
    this.#onSelect = onSelect;
  }

  /** Draws the matrix if the faces of both photos are known, otherwise a button that finds them. */
  draw(response: Comparison): HTMLElement[] {
    this.#loading?.abort();
    const hadFocus = this.#root.contains(document.activeElement);
    this.#response = response;
    this.#matrix = undefined;
    this.#root = make("div", { class: "matrix-panel hides-empty" });
    if (this.#embedded()) this.#show();
    else if (this.#isGroup()) this.#offer();
    // The pressed cell is replaced by the one of the new matrix, once that is in the page.
    if (hadFocus) queueMicrotask(() => this.#focus("[aria-pressed=true]"));
    return [this.#root];
  }

  /** Shows the threshold and the numbers of the faces on the photos as they are now. */
  update(threshold: number): void {
    const embedded = this.#matrix && this.#embedded();
    if (embedded && this.#numbersOf(embedded) !== this.#numbers) this.#show();
    else if (!this.#root.hasChildNodes() && this.#isGroup()) this.#offer();
    this.#threshold = threshold;
    this.#mark();
  }

  /** Marks the pairs that match, and the pair that was compared. */
  #mark(): void {
    const { sourceBox, matches = [] } = this.#response ?? {};
    const isCompared = (row: Box, column: Box) =>
      isSameFace(sourceBox, row) && isSameFace(matches[0]?.box, column);
    this.#matrix?.update(this.#threshold, isCompared);
  }

  #focus(selector: string): void {
    this.#root.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true });
  }

  #photos(): Pair<Photo> | undefined {
    const [first, second] = this.#store.state.slots;
    return first.photo && second.photo && [first.photo, second.photo];
  }

  #embedded(): Pair<readonly Face[]> | undefined {
    const faces = this.#photos()?.map(({ image }) => this.#faces.get(image));
    return faces?.[0] && faces[1] && [faces[0], faces[1]];
  }

  /** A photo with several faces makes a matrix worth while. The page does not have the photo of a URL. */
  #isGroup(): boolean {
    if (this.#photos()?.some(({ url }) => url)) return false;
    const counts = this.#photos()?.map(({ faces }) => faces.length) ?? [];
    return Math.max(...counts) > 1;
  }

  #offer(problem = ""): void {
    const button = makeButton("Compare every face with every face", () => this.#load());
    const text = make("p", { class: "problem", role: "alert" }, problem);
    this.#root.replaceChildren(actionRow(button), text);
  }

  async #load(): Promise<void> {
    const photos = this.#photos();
    if (!photos) return;
    const loading = new AbortController();
    this.#loading = loading;
    const cancel = makeButton("Cancel", () => loading.abort());
    this.#root.replaceChildren(actionRow(make("p", { role: "status" }, "Comparing…"), cancel));
    cancel.focus();
    try {
      await Promise.all(photos.map((photo) => this.#embed(photo, loading.signal)));
    } catch (error) {
      loading.abort();
      // A newer result may have been drawn meanwhile.
      if (this.#loading === loading) this.#offer(problemOf(error));
      return;
    }
    if (this.#loading !== loading || loading.signal.aborted) return;
    for (const [slot, embedded] of this.#embedded()?.entries() ?? []) this.#markFaces(slot, embedded);
    this.#show();
    // The matrix is higher than the button that was pressed, so it may begin below the window.
    this.#root.querySelector<HTMLElement>(".matrix-box")?.focus();
  }

  async #embed(photo: Photo, signal: AbortSignal): Promise<void> {
    if (this.#faces.has(photo.image)) return;
    this.#faces.set(photo.image, await embedFaces(photo, this.#store.state, signal));
  }

  #show(): void {
    const embedded = this.#embedded();
    if (!embedded) return;
    this.#numbers = this.#numbersOf(embedded);
    const [rows, columns] = [this.#side(0, embedded[0]), this.#side(1, embedded[1])];
    const heading = make("h3", {}, "Every face with every face");
    if (rows.faces.length === 0 || columns.faces.length === 0) {
      this.#root.replaceChildren(heading, make("p", {}, "A photo has no face."));
      return;
    }
    this.#matrix = drawMatrix({
      rows,
      columns,
      distance: (row, column) => distanceOf(embedded[0][row]!, embedded[1][column]!),
      onSelect: (row, column) => this.#onSelect([row, column]),
    });
    const hint = `Rows are photo 1, columns photo 2. ✓ marks distances below the threshold. Press a distance to compare this pair.`;
    this.#root.replaceChildren(
      heading,
      this.#matrix.element,
      make("p", { class: "hint" }, hint, ...leftOut([rows, columns])),
    );
    this.#mark();
  }

  #numbersOf(embedded: Pair<readonly Face[]>): string {
    const sides = embedded.map((faces, slot) => this.#side(slot, faces));
    return JSON.stringify(sides.map(({ faces }) => faces.map(({ number }) => number)));
  }

  /** Numbers the faces on the photo as well, so that the headers of the table can refer to them. */
  #markFaces(slot: number, embedded: readonly Face[]): void {
    const photo = this.#store.state.slots[slot]?.photo;
    if (!photo) return;
    if (embedded.every(({ box }) => findFace(photo.faces, box))) return;
    const faces = mergeFaces(photo.faces, embedded);
    updateSlot(this.#store, slot, { photo: { ...photo, faces } });
  }

  #side(slot: number, embedded: readonly Face[]): MatrixSide {
    const photo = this.#store.state.slots[slot]!.photo!;
    const numberOf = ({ box }: Face) => photo.faces.findIndex((face) => isSameFace(face.box, box)) + 1;
    return {
      photo,
      name: `Photo ${slot + 1}`,
      faces: embedded.map((face, i) => ({ face, number: numberOf(face) || i + 1 })),
    };
  }
}

/** Writes an error for the user; empty if the user cancelled. Throws errors that are defects. */
function problemOf(error: unknown): string {
  if (error instanceof PhotoError) return error.message;
  if (!(error instanceof RequestError)) throw error;
  return error.facts.kind === "cancelled" ? "" : error.message;
}

function leftOut(sides: readonly MatrixSide[]): string[] {
  return sides
    .filter(({ faces }) => faces.length > MAX_FACES)
    .map(
      ({ name, faces }) => ` ${name} has ${faces.length} faces; the ${MAX_FACES} most prominent are shown.`,
    );
}
