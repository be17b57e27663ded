import type { Off } from "../site/service-info.ts";

/** Removes the operations that are switched off, what leads to them, and the errors of no other operation. */
export function removeSwitchedOff({ operations }: Off): void {
  if (operations.length === 0) return;
  const parts = operations.flatMap((id) => [
    `.operation[aria-labelledby="${id}"]`,
    `.contents li:has(> a[href="#${id}"])`,
    `[data-operation="${id}"]`,
  ]);
  const errors = [...document.querySelectorAll(".error")].filter(isOfOperation);
  removeAll(parts.join());
  for (const error of errors) if (!isOfOperation(error)) error.remove();
  removeAll(".service:not(:has(.operation)), .contents .group:not(:has(li))");
  for (const link of document.querySelectorAll<HTMLAnchorElement>('.reference a[href^="#"]'))
    if (!leadsSomewhere(link)) removeLink(link);
}

function removeAll(selector: string): void {
  for (const part of document.querySelectorAll(selector)) part.remove();
}

function isOfOperation({ id }: Element): boolean {
  return document.querySelector(`.operation a[href="#${id}"]`) !== null;
}

function leadsSomewhere({ hash }: HTMLAnchorElement): boolean {
  return document.getElementById(hash.slice(1)) !== null;
}

/** Removes a link with its item of a list, unless that has other links. Elsewhere its text stays. */
function removeLink(link: HTMLAnchorElement): void {
  const item = link.closest(".guide li");
  const isUseless = item && ![...item.querySelectorAll("a")].some(leadsSomewhere);
  if (isUseless) item.remove();
  else link.replaceWith(...link.childNodes);
}
