import { copyOnClick } from "../site/copy.ts";
import { make } from "../site/elements.ts";
import { forEachInSteps } from "../site/steps.ts";
import { readFromTab, storeInTab } from "../site/tab-storage.ts";
import { useServiceAddress } from "./address.ts";

const LANGUAGE = "sample_language";

/** Makes tabs of the samples of each operation. A chosen language applies to the whole page and is remembered. */
export function mountSamples(): void {
  let language = readFromTab(LANGUAGE) ?? "curl";
  const groups: ((language: string) => void)[] = [];
  // There are hundreds of samples, most of them far from the window.
  forEachInSteps([...document.querySelectorAll<HTMLElement>(".samples")], (group, index) => {
    useServiceAddress(group);
    const show = createTabs(group, index);
    show(language);
    groups.push(show);
  });
  document.addEventListener("click", ({ target }) => {
    const tab = target instanceof HTMLElement ? target.closest<HTMLElement>("[data-tab]") : null;
    if (!tab) return;
    // The page above changes its height, but the chosen tab stays where it is.
    const before = tab.getBoundingClientRect().top;
    language = tab.dataset.tab!;
    for (const show of groups) show(language);
    scrollBy(0, tab.getBoundingClientRect().top - before);
    storeInTab(LANGUAGE, language);
  });
}

/** Replaces the summaries of samples with tabs. Returns a function that shows a language, or the first without it. */
function createTabs(group: HTMLElement, index: number): (language: string) => void {
  const samples = [...group.querySelectorAll<HTMLDetailsElement>(".sample")];
  const panels = samples.map((sample, i) => {
    const language = sample.dataset.language!;
    const code = sample.querySelector("pre")!;
    const tab = make(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${index}-${language}`,
        "data-tab": language,
        "aria-controls": `panel-${index}-${i}`,
      },
      sample.querySelector("summary")!.textContent,
    );
    const panel = make(
      "div",
      { class: "sample", role: "tabpanel", id: `panel-${index}-${i}`, "aria-labelledby": tab.id },
      code,
    );
    return { language, tab, panel };
  });
  const list = make("div", { role: "tablist", "aria-label": "Language" }, ...panels.map(({ tab }) => tab));
  list.addEventListener("keydown", moveByArrow);
  const copy = make("button", { type: "button", class: "copy" }, "Copy");
  copyOnClick(copy, () => panels.find(({ panel }) => !panel.hidden)?.panel.textContent ?? "");
  group.replaceChildren(
    make("div", { class: "sample-bar" }, list, copy),
    ...panels.map(({ panel }) => panel),
  );
  return (language) => {
    const shown = panels.find((panel) => panel.language === language) ?? panels[0];
    for (const { tab, panel } of panels) {
      const isShown = panel === shown?.panel;
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      panel.hidden = !isShown;
    }
  };
}

/** The arrow keys move between tabs and choose them. */
function moveByArrow(event: KeyboardEvent): void {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const list = event.currentTarget as HTMLElement;
  const tabs = [...list.querySelectorAll<HTMLElement>("[role=tab]")];
  const index = tabs.indexOf(document.activeElement as HTMLElement);
  if (step === undefined || index < 0) return;
  event.preventDefault();
  const next = tabs[(index + step + tabs.length) % tabs.length]!;
  next.focus();
  next.click();
}
