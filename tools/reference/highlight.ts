import { element, escapeHtml, type HtmlAttributes } from "./html.ts";

const STRING = String.raw`"(?:\\.|[^"\\\n])*"`;
const NUMBER = String.raw`\b\d[\d.]*\b`;

/** Tokens by the class of their span: comment, string, keyword, number, name of a member. */
interface Tokens {
  readonly c?: string;
  readonly p?: string;
  readonly s: string;
  readonly k?: string;
  readonly n?: string;
}

const C_LIKE = { c: "//.*", s: STRING, n: NUMBER };

const LANGUAGES: Readonly<Record<string, Tokens>> = {
  shell: {
    s: `${STRING}|'[^']*'`,
    k: String.raw`(?<![\w./-])(?:curl|grpcurl|printf|base64|sed|export|npm)(?= )`,
  },
  python: {
    c: "#.*",
    s: STRING,
    n: NUMBER,
    k: words("import from with as for in or and if print True False"),
  },
  typescript: { ...C_LIKE, k: words("import from const await for of new process true false") },
  go: { ...C_LIKE, k: words("package import func for range if return defer continue yield nil true false") },
  java: {
    ...C_LIKE,
    k: words("import public final class static void String var new for try true false"),
  },
  json: { p: `${STRING}(?=:)`, s: STRING, n: `-?${NUMBER}`, k: words("true false null") },
};

const PATTERNS = new Map(
  Object.entries(LANGUAGES).map(([language, tokens]) => {
    const groups = Object.entries(tokens).map(([name, pattern]) => `(?<${name}>${pattern})`);
    return [language, new RegExp(groups.join("|"), "g")];
  }),
);

/** A block of code in a language, which the reader can scroll with the keyboard. */
export function codeBlock(
  language: string,
  text: string,
  label: string,
  attributes: HtmlAttributes = {},
): string {
  const region = { tabindex: 0, role: "group", "aria-label": label, ...attributes };
  return element("pre", region, `<code>${highlight(text, language)}</code>`);
}

/** Writes code as HTML in which tokens have a class. Code of an unknown language has none. */
function highlight(text: string, language: string): string {
  const pattern = PATTERNS.get(language);
  if (!pattern) return escapeHtml(text);
  let html = "";
  let end = 0;
  for (const { 0: token, index, groups = {} } of text.matchAll(pattern)) {
    const name = Object.keys(groups).find((group) => groups[group] !== undefined);
    html += `${escapeHtml(text.slice(end, index))}<span class="${name}">${escapeHtml(token)}</span>`;
    end = index + token.length;
  }
  return html + escapeHtml(text.slice(end));
}

function words(list: string): string {
  return String.raw`\b(?:${list.replaceAll(" ", "|")})\b`;
}
