import { make, visuallyHidden } from "../site/elements.ts";

/** A column of a table. */
export interface Column<Row> {
  /** Empty for a column of buttons. */
  readonly title: string;
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => Node | string;
}

/** Draws rows as a table; on narrow screens each row becomes a card. The caption is for screen readers. */
export function drawTable<Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): HTMLElement {
  const classOf = ({ isNumber }: Column<Row>) => isNumber && "number";
  const head = columns.map((column) =>
    make(
      "th",
      { scope: "col", role: "columnheader", class: classOf(column) },
      column.title || visuallyHidden("Actions"),
    ),
  );
  // The roles stay when styles turn rows into blocks.
  const body = rows.map((row) =>
    make(
      "tr",
      { role: "row" },
      ...columns.map((column) =>
        make(
          "td",
          { role: "cell", class: classOf(column), "data-label": column.title || undefined },
          column.cell(row),
        ),
      ),
    ),
  );
  const table = make(
    "table",
    { class: "cards", role: "table" },
    make("caption", { class: "visually-hidden" }, caption),
    make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...head)),
    make("tbody", { role: "rowgroup" }, ...body),
  );
  return make("div", { class: "table-frame" }, table);
}
