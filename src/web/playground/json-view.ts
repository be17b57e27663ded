import { make } from "./elements.ts";

/** Lists with more entries than this are folded. */
const FOLD_BEYOND = 12;

/** Draws JSON with line breaks, where long lists such as vectors are folded. */
export function drawJson(value: unknown, indent = ""): Node {
  if (typeof value !== "object" || value === null) return drawPlain(value);
  const entries = Object.entries(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) return document.createTextNode(open + close);
  if (entries.length <= FOLD_BEYOND) return drawEntries(value, indent);
  const unit = Array.isArray(value) ? "numbers" : "entries";
  return drawFolded(`${open} ${entries.length} ${unit} ${close}`, () => drawEntries(value, indent));
}

/** A button in place of what it unfolds, which is drawn only then. */
function drawFolded(name: string, content: () => Node): Node {
  const button = make("button", { type: "button", "aria-expanded": "false" }, name);
  const place = make("span", {});
  button.addEventListener("click", () => {
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    button.textContent = isOpen ? name : "Fold";
    place.replaceChildren(...(isOpen ? [] : [" ", content()]));
  });
  return make("span", {}, button, place);
}

function drawEntries(value: object, indent: string): Node {
  const isList = Array.isArray(value);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  const entries = Object.entries(value);
  const isShort = entries.length <= 4 && entries.every(([, item]) => typeof item === "number");
  const inner = isShort ? indent : `${indent}  `;
  const parts: (Node | string)[] = [];
  entries.forEach(([key, item], i) => {
    if (!isShort) parts.push(`\n${inner}`);
    else if (i > 0) parts.push(" ");
    if (!isList) parts.push(make("span", { class: "key" }, JSON.stringify(key)), ": ");
    parts.push(drawJson(item, inner), i < entries.length - 1 ? "," : "");
  });
  const space = isShort ? (isList ? "" : " ") : undefined;
  return make("span", {}, open + (space ?? ""), ...parts, (space ?? `\n${indent}`) + close);
}

function drawPlain(value: unknown): Node {
  const kind = typeof value === "string" ? "string" : "plain";
  return make("span", { class: kind }, JSON.stringify(value));
}
