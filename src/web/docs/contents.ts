import { byId } from "../site/elements.ts";

/** Below this width the contents are above the text, and closed at first. */
const NARROW = "(max-width: 999px)";

/** Marks the current section in the contents, filters them, and closes them on a narrow screen. */
export function mountContents(): void {
  const contents = document.querySelector<HTMLDetailsElement>(".contents")!;
  const links = new Map(
    [...contents.querySelectorAll("a")].map((link) => [link.getAttribute("href")!.slice(1), link]),
  );
  const narrow = matchMedia(NARROW);
  const openIfWide = () => {
    contents.open = !narrow.matches;
  };
  openIfWide();
  narrow.addEventListener("change", openIfWide);
  contents.addEventListener("click", ({ target }) => {
    if (narrow.matches && target instanceof HTMLElement && target.closest("a")) contents.open = false;
  });
  markCurrent(contents, links);
  mountFilter(contents);
}

/**
 * The current section is the last one that begins above the upper third of the window. The sections are measured, not
 * their headings: that would lay out the operations which are far from the window.
 */
function markCurrent(contents: HTMLElement, links: ReadonlyMap<string, HTMLAnchorElement>): void {
  const sections = [...document.querySelectorAll<HTMLElement>(".guide, .service, .operation")];
  let current: HTMLAnchorElement | undefined;
  let isScheduled = false;
  const update = () => {
    isScheduled = false;
    const line = innerHeight / 3;
    const section =
      sections.findLast((candidate) => candidate.getBoundingClientRect().top < line) ?? sections[0];
    const link = section && links.get(section.getAttribute("aria-labelledby")!);
    if (link === current) return;
    current?.removeAttribute("aria-current");
    link?.setAttribute("aria-current", "true");
    current = link;
    if (link) scrollInto(contents, link);
  };
  addEventListener(
    "scroll",
    () => {
      if (isScheduled) return;
      isScheduled = true;
      requestAnimationFrame(update);
    },
    { passive: true },
  );
  requestAnimationFrame(update);
}

/** Scrolls the contents, but not the page, so that a link is visible. */
function scrollInto(contents: HTMLElement, link: HTMLElement): void {
  const { top, bottom } = contents.getBoundingClientRect();
  const place = link.getBoundingClientRect();
  if (place.top < top) contents.scrollTop -= top - place.top + place.height;
  else if (place.bottom > bottom) contents.scrollTop += place.bottom - bottom + place.height;
}

/** Shows only what contains all words of the filter: operations by name, path and summary, and errors. */
function mountFilter(contents: HTMLElement): void {
  const input = byId("filter", HTMLInputElement);
  input.parentElement!.hidden = false;
  const searched = [...document.querySelectorAll<HTMLElement>("[data-search]")];
  // A link may lead to what the filter hides.
  addEventListener("hashchange", () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target?.closest("[hidden]")) return;
    input.value = "";
    input.dispatchEvent(new Event("input"));
    target.scrollIntoView();
  });
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isShown = (text: string) => words.every((word) => text.includes(word));
    const shownIds = new Set<string>();
    for (const element of searched) {
      element.hidden = !isShown(element.dataset.search!);
      const id = element.getAttribute("aria-labelledby");
      if (!element.hidden && id) shownIds.add(id);
    }
    for (const link of contents.querySelectorAll<HTMLAnchorElement>(".group li > a")) {
      const id = link.getAttribute("href")!.slice(1);
      const isOperation = searched.some((element) => element.getAttribute("aria-labelledby") === id);
      link.parentElement!.hidden = words.length > 0 && isOperation && !shownIds.has(id);
    }
    for (const service of document.querySelectorAll<HTMLElement>(".service"))
      service.hidden = service.querySelectorAll(".operation:not([hidden])").length === 0;
  });
}
