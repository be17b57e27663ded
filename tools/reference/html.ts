/** Escapes text for HTML, also for an attribute in double quotes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Attributes by name. `undefined` and `false` leave an attribute out; `true` is an attribute without a value. */
export type HtmlAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Writes an element. Its content is HTML. */
export function element(name: string, attributes: HtmlAttributes, ...content: readonly string[]): string {
  const written = Object.entries(attributes).flatMap(([key, value]) => {
    if (value === undefined || value === false) return [];
    return value === true ? [` ${key}`] : [` ${key}="${escapeHtml(String(value))}"`];
  });
  return `<${name}${written.join("")}>${content.join("")}</${name}>`;
}

/** Writes text as code. */
export function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`;
}

/** Writes a link. Its content is HTML. */
export function link(href: string, content: string): string {
  return element("a", { href }, content);
}
