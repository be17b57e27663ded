import { SAMPLE_LANGUAGES, type SampleLanguage } from "../samples/samples.ts";
import { copyOnClick } from "../site/copy.ts";
import { byId, make } from "../site/elements.ts";
import { readFromTab, storeInTab } from "../site/tab-storage.ts";
import { codeRequest } from "./code-request.ts";
import { requestFrom } from "./request.ts";
import type { State, Store } from "./store.ts";
import { maskUserId } from "./user-id.ts";

/** The chosen language, which the API reference uses as well. */
const LANGUAGE = "sample_language";

/** Shows the request of the form as code, in a language that the user chooses. */
export function mountCodeView(store: Store): void {
  const block = byId("code", HTMLPreElement);
  block.setAttribute("role", "tabpanel");
  // The block scrolls, so it must be reachable by keyboard.
  block.tabIndex = 0;
  let language = languageOf(readFromTab(LANGUAGE));
  const tabs = SAMPLE_LANGUAGES.map(({ id, name }) =>
    make(
      "button",
      { type: "button", role: "tab", id: `code-${id}`, "aria-controls": "code", "data-tab": id },
      name,
    ),
  );
  const show = (state: State) => {
    for (const tab of tabs) {
      const isChosen = tab.dataset.tab === language.id;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
    }
    block.setAttribute("aria-labelledby", `code-${language.id}`);
    const text = codeOf(language, state, state.isUserIdVisible ? state.userId : maskUserId(state.userId));
    if (block.textContent !== text) block.textContent = text;
  };
  const list = byId("code-languages", HTMLDivElement);
  list.append(...tabs);
  list.addEventListener("click", ({ target }) => {
    const id = target instanceof HTMLElement ? target.dataset.tab : undefined;
    if (id === undefined) return;
    storeInTab(LANGUAGE, id);
    language = languageOf(id);
    show(store.state);
  });
  list.addEventListener("keydown", (event) => moveByArrow(event, tabs));
  copyOnClick(byId("copy-code", HTMLButtonElement), () => codeOf(language, store.state, store.state.userId));
  store.subscribe(show);
}

function languageOf(id: string | undefined): SampleLanguage {
  return SAMPLE_LANGUAGES.find((language) => language.id === id) ?? SAMPLE_LANGUAGES[0]!;
}

/** Without a user id, the code reads it from the environment. */
function codeOf({ name, write }: SampleLanguage, state: State, userId: string): string {
  const address = document.baseURI.replace(/\/$/, "");
  const code = write(codeRequest(requestFrom(state)), { address, ...(userId && { key: userId }) });
  return (
    code?.trimEnd() ?? `The ${name} client has no ${state.operation}, which is deprecated. Use match_faces.`
  );
}

/** The arrow keys move between tabs and choose them. */
function moveByArrow(event: KeyboardEvent, tabs: readonly HTMLElement[]): void {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const index = tabs.indexOf(document.activeElement as HTMLElement);
  if (step === undefined || index < 0) return;
  event.preventDefault();
  const next = tabs[(index + step + tabs.length) % tabs.length]!;
  next.focus();
  next.click();
}
