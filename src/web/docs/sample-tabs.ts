import { serviceAddress } from "../samples/service-address.ts";
import { makeCopyButton } from "../site/copy.ts";
import { make } from "../site/elements.ts";
import { readFromTab, storeInTab } from "../site/tab-storage.ts";
import { createTabs } from "../site/tabs.ts";
import { withAddress } from "./sample-address.ts";

const LANGUAGE = "sample_language";
/** The service that shows the page. */
const ADDRESS = serviceAddress(document.baseURI);
/** How long the page may be busy at a time. */
const STEP_MS = 10;

/** Makes tabs of the samples of each operation. A chosen language applies to the whole page and is remembered. */
export function mountSamples(): void {
  let language = readFromTab(LANGUAGE) ?? "curl";
  const shown: ((language: string) => void)[] = [];
  const choose = (chosen: string, tab: HTMLElement) => {
    // The page above changes its height, but the chosen tab stays where it is.
    const before = tab.getBoundingClientRect().top;
    language = chosen;
    for (const show of shown) show(language);
    scrollBy(0, tab.getBoundingClientRect().top - before);
    storeInTab(LANGUAGE, language);
  };
  const groups = document.querySelectorAll<HTMLElement>(".samples");
  // There are hundreds of samples, most of them far from the window, so the page responds between short steps.
  const step = () => {
    const endMs = performance.now() + STEP_MS;
    while (shown.length < groups.length && performance.now() < endMs) {
      const group = groups[shown.length]!;
      const show = drawSamples(group, shown.length, choose);
      show(language);
      shown.push(show);
    }
    if (shown.length < groups.length) setTimeout(step);
  };
  step();
}

/** Replaces the summaries of samples with tabs. Returns a function that shows a language, or the first without it. */
function drawSamples(
  group: HTMLElement,
  index: number,
  onChoose: (language: string, tab: HTMLElement) => void,
): (language: string) => void {
  const samples = [...group.querySelectorAll<HTMLDetailsElement>(".sample")];
  const tabs = samples.map((sample) => ({
    name: sample.dataset.language!,
    label: sample.querySelector("summary")!.textContent,
    // A browser with script has not parsed what is in a noscript element.
    html: sample.querySelector("noscript")?.textContent ?? sample.querySelector("pre")!.outerHTML,
  }));
  const panel = make("div", { class: "sample", id: `sample-${index}` });
  const { list, mark } = createTabs({ label: "Language", tabs, panel, onChoose });
  const copy = makeCopyButton("Copy", () => panel.textContent, { class: "small" });
  group.replaceChildren(make("div", { class: "panel-top sample-bar" }, list, copy), panel);
  return (language) => {
    const shown = tabs.find(({ name }) => name === language) ?? tabs[0]!;
    mark(shown.name);
    panel.innerHTML = withAddress(shown.html, ADDRESS);
  };
}
