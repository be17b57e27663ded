import { SAMPLE_LANGUAGES, type SampleLanguage } from "../samples/samples.ts";
import { serviceAddress } from "../samples/service-address.ts";
import { makeCopyButton } from "../site/copy.ts";
import { byId } from "../site/elements.ts";
import { readFromTab, storeInTab } from "../site/tab-storage.ts";
import { createTabs } from "../site/tabs.ts";
import { maskKey } from "./api-key.ts";
import { codeRequest } from "./code-request.ts";
import { requestFrom } from "./request.ts";
import type { State, Store } from "./store.ts";

/** The chosen language, which the API reference uses as well. */
const LANGUAGE = "sample_language";

/** Shows code that answers the question of the form, in a language that the user chooses. */
export function mountCodeView(store: Store): void {
  const block = byId("code", HTMLPreElement);
  // The block scrolls, so it must be reachable by keyboard.
  block.tabIndex = 0;
  let language = languageOf(readFromTab(LANGUAGE));
  const { list, mark } = createTabs({
    label: "Language of the code",
    tabs: SAMPLE_LANGUAGES.map(({ id, name }) => ({ name: id, label: name })),
    panel: block,
    onChoose(id) {
      storeInTab(LANGUAGE, id);
      language = languageOf(id);
      show(store.state);
    },
  });
  const show = (state: State) => {
    mark(language.id);
    const text = codeOf(language, state, maskKey(state.apiKey));
    if (block.textContent !== text) block.textContent = text;
  };
  const code = () => codeOf(language, store.state, store.state.apiKey);
  byId("code-top", HTMLDivElement).append(list, makeCopyButton("Copy", code, { subject: " code" }));
  store.subscribe(show);
}

function languageOf(id: string | undefined): SampleLanguage {
  return SAMPLE_LANGUAGES.find((language) => language.id === id) ?? SAMPLE_LANGUAGES[0]!;
}

/** Without a key, the code reads it from the environment. */
function codeOf({ write }: SampleLanguage, state: State, key: string): string {
  return write(codeRequest(requestFrom(state)), {
    address: serviceAddress(document.baseURI),
    ...(key && { key }),
  })!.trimEnd();
}
