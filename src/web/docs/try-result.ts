import { make } from "../site/elements.ts";
import { drawFacts } from "../site/facts.ts";
import type { TryResponse } from "./try-request.ts";

/** More would make the page slow. */
const MAX_SHOWN_CHARACTERS = 200_000;

/** Shows a response: status and time, the headers that matter, and the body. */
export function resultView({ status, headers, body, isJson, roundTripMs }: TryResponse): HTMLElement[] {
  const isSuccess = status >= 200 && status < 300;
  const line = make(
    "p",
    { class: "try-status" },
    make("strong", { class: isSuccess ? "good" : "bad" }, `${status} ${isSuccess ? "Success" : "Error"}`),
    ` in ${Math.round(roundTripMs)} ms`,
  );
  const block = make(
    "pre",
    { class: "tall", tabindex: 0, role: "group", "aria-label": "Response body" },
    make("code", {}, shownBody(body, isJson)),
  );
  return [line, drawFacts(headers), block];
}

function shownBody(body: string, isJson: boolean): string {
  const text = isJson ? indentJson(body) : body;
  if (text.length <= MAX_SHOWN_CHARACTERS) return text;
  return `${text.slice(0, MAX_SHOWN_CHARACTERS)}\n… ${text.length - MAX_SHOWN_CHARACTERS} more characters`;
}

/** Indents JSON, also several lines of it. Lists of numbers stay on one line. */
function indentJson(text: string): string {
  try {
    return text.trim().split("\n").map(indentValue).join("\n");
  } catch {
    return text;
  }
}

function indentValue(line: string): string {
  const indented = JSON.stringify(JSON.parse(line), undefined, 2);
  return indented.replaceAll(
    /\[\s+(-?[\d.e+-]+(?:,\s+-?[\d.e+-]+)*)\s+\]/g,
    (_, numbers: string) => `[${numbers.replaceAll(/\s+/g, " ")}]`,
  );
}
