import type { Box } from "../../photos/geometry.ts";
import { make, makeButton, visuallyHidden } from "../../site/elements.ts";
import { drawThumbnail } from "../face-row.ts";
import type { Photo } from "../photo.ts";
import type { Face } from "../responses.ts";

/** More faces of a photo than this are not shown. */
export const MAX_FACES = 20;

/** One side of the matrix: the faces of a photo. */
export interface MatrixSide {
  readonly photo: Photo;
  /** Such as `Photo 1`. */
  readonly name: string;
  /** The faces with their numbers on the photo. */
  readonly faces: readonly { readonly face: Face; readonly number: number }[];
}

/** What the matrix shows, and what a click on a cell does. */
export interface FaceMatrix {
  readonly rows: MatrixSide;
  readonly columns: MatrixSide;
  /** The distance of a face of the rows and a face of the columns, by their indexes. */
  distance(row: number, column: number): number;
  onSelect(row: Box, column: Box): void;
}

/** A drawn matrix. */
export interface DrawnMatrix {
  readonly element: HTMLElement;
  /** Marks the pairs that match, and the pair that was compared. */
  update(threshold: number, compared: (row: Box, column: Box) => boolean): void;
}

/** Draws the distances of all faces of one photo to all faces of another as a table, which scrolls in its own box. */
export function drawMatrix({ rows, columns, distance, onSelect }: FaceMatrix): DrawnMatrix {
  const cells: { readonly cell: HTMLElement; readonly at: readonly [row: number, column: number] }[] = [];
  const [shownRows, shownColumns] = [rows.faces.slice(0, MAX_FACES), columns.faces.slice(0, MAX_FACES)];
  const head = make("tr", {}, make("td", {}), ...shownColumns.map((_, i) => drawHeader(columns, i, "col")));
  const body = shownRows.map((row, r) => {
    const values = shownColumns.map((column, c) => {
      const text = distance(r, c).toFixed(3);
      const mark = make("span", { class: "mark", "aria-hidden": "true" });
      const button = makeButton(text, () => onSelect(row.face.box, column.face.box));
      button.append(mark);
      const cell = make("td", {}, button);
      cells.push({ cell, at: [r, c] });
      return cell;
    });
    return make("tr", {}, drawHeader(rows, r, "row"), ...values);
  });
  const caption = make(
    "caption",
    { class: "visually-hidden" },
    `Distances: rows ${rows.name}, columns ${columns.name}`,
  );
  const table = make(
    "table",
    { class: "matrix" },
    caption,
    make("thead", {}, head),
    make("tbody", {}, ...body),
  );
  // The box scrolls, so it must be reachable by keyboard.
  const label = `Distances of every face in ${rows.name} and ${columns.name}`;
  const element = make("section", { class: "card matrix-box", tabindex: 0, "aria-label": label }, table);
  return {
    element,
    update(threshold, compared) {
      for (const { cell, at } of cells) {
        const [r, c] = at;
        const value = distance(r, c);
        const isMatch = value < threshold;
        const [row, column] = [shownRows[r]!, shownColumns[c]!];
        const button = cell.querySelector("button")!;
        cell.classList.toggle("match", isMatch);
        button.querySelector(".mark")!.textContent = isMatch ? " ✓" : "";
        button.setAttribute("aria-pressed", String(compared(row.face.box, column.face.box)));
        button.setAttribute(
          "aria-label",
          `${rows.name}, face ${row.number} and ${columns.name}, face ${column.number}: distance ${value.toFixed(3)}, ${isMatch ? "match" : "no match"}`,
        );
      }
    },
  };
}

function drawHeader({ photo, name, faces }: MatrixSide, index: number, scope: "row" | "col"): HTMLElement {
  const { face, number } = faces[index]!;
  const picture = drawThumbnail(photo, face, `Face ${number}`);
  picture.setAttribute("aria-hidden", "true");
  return make("th", { scope }, picture, make("span", {}, visuallyHidden(`${name}, face `), String(number)));
}
