/** A value of a cell; undefined is an empty cell. */
export type Cell = string | number | boolean | undefined;

/** Spreadsheets run a text that begins with one of these as a formula. */
const FORMULA_START = /^[=+\-@\t\r]/;

/** Makes Excel read the file as UTF-8. */
const BYTE_ORDER_MARK = "\ufeff";

/** Writes rows as CSV (RFC 4180). Texts that a spreadsheet would run as a formula get a leading apostrophe. */
export function writeCsv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return BYTE_ORDER_MARK + [header, ...rows].map((row) => `${row.map(cellText).join(",")}\r\n`).join("");
}

function cellText(value: Cell): string {
  if (value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = FORMULA_START.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
