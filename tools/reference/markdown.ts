import { escapeHtml } from "./html.ts";

/**
 * Converts the part of Markdown that the descriptions of the API use to HTML: paragraphs, lists, tables, inline
 * code, emphasis and links. HTML in the text is escaped.
 */
export function markdownToHtml(text: string): string {
  return text
    .trim()
    .split(/\n{2,}/)
    .filter(Boolean)
    .map(blockToHtml)
    .join("\n");
}

/** Converts one line: inline code, emphasis and links. */
export function inlineToHtml(text: string): string {
  return text
    .split(/(`[^`]+`)/)
    .map((part) =>
      /^`.+`$/.test(part) ? `<code>${escapeHtml(part.slice(1, -1))}</code>` : emphasisToHtml(part),
    )
    .join("");
}

function emphasisToHtml(text: string): string {
  return escapeHtml(text)
    .replaceAll(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
    .replaceAll(/\[([^\]]+)\]\(([^)\s]+)\)/g, '<a href="$2">$1</a>');
}

function blockToHtml(block: string): string {
  const lines = block.split("\n");
  if (lines[0]!.startsWith("- "))
    return `<ul>${block
      .split(/^- /m)
      .slice(1)
      .map((item) => `<li>${inlineToHtml(item.trim().replaceAll("\n", " "))}</li>`)
      .join("")}</ul>`;
  if (lines[0]!.startsWith("|")) return tableToHtml(lines);
  return `<p>${inlineToHtml(lines.join(" "))}</p>`;
}

function tableToHtml([head, , ...rows]: readonly string[]): string {
  const cells = (row: string) =>
    row
      .replace(/^\|/, "")
      .replace(/\|\s*$/, "")
      .split("|")
      .map((cell) => inlineToHtml(cell.trim()));
  const header = cells(head!).map((cell) => `<th scope="col">${cell}</th>`);
  const body = rows.map((row) => {
    const [first, ...others] = cells(row);
    return `<tr><th scope="row">${first}</th>${others.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  return `<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${header.join("")}</tr></thead><tbody>${body.join("")}</tbody></table></div>`;
}
