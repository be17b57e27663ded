import { mountSearch } from "./search.ts";

/** Below this width the contents are a bar at the top of the window, which opens them over the text. */
const NARROW = "(max-width: 999px)";

/** Marks the current section in the contents, which stay at hand and can be searched. */
export function mountContents(): void {
  const contents = document.querySelector<HTMLDetailsElement>(".contents")!;
  const summary = contents.querySelector("summary")!;
  const narrow = matchMedia(NARROW);
  const openIfWide = () => {
    contents.open = !narrow.matches;
  };
  openIfWide();
  narrow.addEventListener("change", openIfWide);
  const scrollToCurrent = markCurrent(contents);
  // What is not laid out cannot be scrolled to.
  contents.addEventListener("toggle", scrollToCurrent);
  mountSearch(contents, scrollToCurrent);
  const close = ({ target }: Event) => {
    const isOutside = !contents.contains(target as Node);
    if (narrow.matches && (isOutside || (target as Element).closest("a"))) contents.open = false;
  };
  addEventListener("click", close);
  contents.addEventListener("keydown", ({ key, defaultPrevented }) => {
    if (key !== "Escape" || !narrow.matches || defaultPrevented) return;
    contents.open = false;
    summary.focus();
  });
}

/**
 * Marks the section that is read, and names it in the bar. It is the last one that begins above the upper third of the
 * window. The sections are measured, not their headings: that would lay out the operations which are far from the
 * window. Returns a function that scrolls the contents to the mark.
 */
function markCurrent(contents: HTMLElement): () => void {
  const links = new Map(
    [...contents.querySelectorAll("a")].map((link) => [link.getAttribute("href")!.slice(1), link]),
  );
  const bar = contents.querySelector(".current")!;
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
    bar.textContent = link?.textContent ?? "";
    scrollToCurrent();
  };
  const scrollToCurrent = () => {
    if (current?.checkVisibility()) scrollInto(contents.querySelector(".contents-body")!, current);
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
  return scrollToCurrent;
}

/** Scrolls the contents, but not the page, so that a link is visible. */
function scrollInto(contents: HTMLElement, link: HTMLElement): void {
  const { top, bottom } = contents.getBoundingClientRect();
  const place = link.getBoundingClientRect();
  // The search covers the top of the contents.
  const margin = 3 * place.height;
  if (place.top < top + margin) contents.scrollTop -= top + margin - place.top;
  else if (place.bottom > bottom) contents.scrollTop += place.bottom - bottom + place.height;
}
