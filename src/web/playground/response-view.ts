import { makeCopyButton } from "../site/copy.ts";
import { byId } from "../site/elements.ts";
import { drawJson } from "./json-view.ts";
import type { Outcome } from "./send.ts";
import type { Store } from "./store.ts";

/** Shows the response as JSON. */
export function mountResponseView(store: Store): void {
  const block = byId("response", HTMLElement);
  // The block scrolls, so it must be reachable by keyboard.
  block.tabIndex = 0;
  const status = byId("response-status", HTMLSpanElement);
  const json = () => JSON.stringify(store.state.outcome?.response, null, 2);
  const copy = makeCopyButton("Copy", json, { subject: " response" });
  byId("response-top", HTMLDivElement).append(copy);
  let drawn: Outcome | "nothing" | undefined = "nothing";
  store.subscribe(({ outcome }) => {
    if (outcome === drawn) return;
    drawn = outcome;
    copy.hidden = outcome?.response === undefined;
    status.textContent = outcome?.httpStatus === undefined ? "" : `HTTP ${outcome.httpStatus}`;
    block.replaceChildren(outcome?.response === undefined ? "No response yet." : drawJson(outcome.response));
  });
}
