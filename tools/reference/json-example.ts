const MAX_ITEMS = 2;
const MAX_TEXT = 60;
const DECIMALS = 4;

/** Writes an example as indented JSON in which long lists and texts are shortened, which `…` shows. */
export function shortJson(value: unknown, indent = ""): string {
  if (typeof value === "string") return shortText(value);
  if (typeof value === "number") return String(Number(value.toFixed(DECIMALS)));
  if (Array.isArray(value)) return shortList(value, indent);
  if (typeof value !== "object" || value === null) return String(value);
  const members = Object.entries(value);
  if (members.length === 0) return "{}";
  const inner = `${indent}  `;
  const oneLine = `{ ${members.map(([name, member]) => `${JSON.stringify(name)}: ${shortJson(member)}`).join(", ")} }`;
  if (members.every(([, member]) => typeof member === "number")) return oneLine;
  const lines = members.map(
    ([name, member]) => `${inner}${JSON.stringify(name)}: ${shortJson(member, inner)}`,
  );
  return `{\n${lines.join(",\n")}\n${indent}}`;
}

function shortList(list: readonly unknown[], indent: string): string {
  if (list.length === 0) return "[]";
  const isFlat = list.every((item) => typeof item !== "object");
  const shown = isFlat && list.length <= 2 * MAX_ITEMS ? list : list.slice(0, MAX_ITEMS);
  const rest = list.length - shown.length;
  const inner = `${indent}  `;
  const items = shown.map((item) => shortJson(item, inner));
  if (rest > 0) items.push(`… ${rest} more`);
  return isFlat ? `[${items.join(", ")}]` : `[\n${items.map((item) => inner + item).join(",\n")}\n${indent}]`;
}

function shortText(text: string): string {
  return JSON.stringify(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);
}
