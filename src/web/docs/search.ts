import { byId, make } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import { findHits, type Hit, readSections, type Section } from "./search-index.ts";

/**
 * Shows what contains all words of the search in place of the contents, best first. The document stays as it is, so the
 * place that is read does too. `/` focuses the search, Enter goes to the best hit, and Escape ends the search, after
 * which `onEnd` is called.
 */
export function mountSearch(contents: HTMLDetailsElement, onEnd: () => void): void {
  const input = byId("search", HTMLInputElement);
  const status = input.parentElement!.querySelector("p")!;
  const list = contents.querySelector<HTMLElement>(".hits")!;
  const navigation = contents.querySelector("nav")!;
  let sections: readonly Section[] | undefined;
  let hits: readonly Hit[] = [];
  input.parentElement!.hidden = false;
  const update = () => {
    const query = input.value.trim();
    sections ??= readSections();
    hits = query ? findHits(sections, query) : [];
    navigation.hidden = query !== "";
    status.textContent = !query
      ? ""
      : hits.length > 0
        ? `${plural(hits.length, "result")}. Enter opens the first.`
        : `Nothing found for “${query}”.`;
    list.replaceChildren(...hits.map(hitItem));
    if (!query) onEnd();
  };
  input.addEventListener("input", update);
  contents.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && input.value) {
      // Escape also closes the contents, but not before the search.
      event.preventDefault();
      input.value = "";
      update();
      input.focus();
    } else if (event.key === "Enter" && event.target === input) list.querySelector("a")?.click();
  });
  list.addEventListener("click", (event) => {
    const link = (event.target as Element).closest("a");
    const hit = hits[[...list.querySelectorAll("a")].indexOf(link!)];
    if (!hit || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    location.hash = hit.section.id;
    reveal(hit.part.element);
  });
  addEventListener("keydown", (event) => {
    const isTyping = (event.target as Element).matches("input:not([type=checkbox]), textarea, select");
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    event.preventDefault();
    contents.open = true;
    input.select();
  });
}

function hitItem({ section, part }: Hit): HTMLElement {
  const { id, title, hint, method } = section;
  const label = method ? [make("span", { class: "method", "data-method": method }, method), " "] : [];
  const detail = make("span", { class: "hint" }, part.field ? `field ${part.field}` : hint);
  return make("li", {}, make("a", { href: `#${id}` }, ...label, title, " ", detail));
}

/** Opens what hides a part of the page, scrolls to it and marks it until the next one. */
function reveal(part: HTMLElement): void {
  for (let parent = part.parentElement; parent; parent = parent.parentElement)
    if (parent instanceof HTMLDetailsElement) parent.open = true;
  document.querySelector(".found")?.classList.remove("found");
  part.classList.add("found");
  part.scrollIntoView({ block: part.matches("h2, h3, .error") ? "start" : "center" });
}
