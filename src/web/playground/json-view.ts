import { make } from "../site/elements.ts";

/** Lists and objects with more entries than this are collapsed. */
const MAX_EXPANDED_ENTRIES = 12;

/** Draws indented JSON in which long lists, such as vectors, are collapsed. */
export function drawJson(value: unknown, indent = ""): Node {
  if (typeof value !== "object" || value === null) return drawScalar(value);
  const entries = Object.entries(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) return document.createTextNode(open + close);
  if (entries.length <= MAX_EXPANDED_ENTRIES) return drawEntries(value, indent);
  const unit = Array.isArray(value) ? "items" : "entries";
  return drawCollapsed(`${open} ${entries.length} ${unit} ${close}`, () => drawEntries(value, indent));
}

/** Draws a button that expands to content, which is drawn when it is expanded. */
function drawCollapsed(name: string, content: () => Node): Node {
  const button = make("button", { type: "button", "aria-expanded": "false" }, name);
  const place = make("span", {});
  button.addEventListener("click", () => {
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    button.textContent = isOpen ? name : "Collapse";
    place.replaceChildren(...(isOpen ? [] : [" ", content()]));
  });
  return make("span", {}, button, place);
}

function drawEntries(value: object, indent: string): Node {
  const isList = Array.isArray(value);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  const entries = Object.entries(value);
  const isInline = entries.length <= 4 && entries.every(([, item]) => typeof item === "number");
  const inner = isInline ? indent : `${indent}  `;
  const parts: (Node | string)[] = [];
  entries.forEach(([key, item], i) => {
    if (!isInline) parts.push(`\n${inner}`);
    else if (i > 0) parts.push(" ");
    if (!isList) parts.push(make("span", { class: "key" }, JSON.stringify(key)), ": ");
    parts.push(drawJson(item, inner), i < entries.length - 1 ? "," : "");
  });
  const space = isInline ? (isList ? "" : " ") : undefined;
  return make("span", {}, open + (space ?? ""), ...parts, (space ?? `\n${indent}`) + close);
}

function drawScalar(value: unknown): Node {
  const kind = typeof value === "string" ? "string" : "plain";
  return make("span", { class: kind }, JSON.stringify(value));
}
