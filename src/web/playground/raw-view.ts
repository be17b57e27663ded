import { copyOnClick } from "../site/copy.ts";
import { byId } from "../site/elements.ts";
import { curlCommand, grpcurlCommand } from "./commands.ts";
import { drawJson } from "./json-view.ts";
import { requestFrom } from "./request.ts";
import type { Outcome } from "./send.ts";
import type { State, Store } from "./store.ts";
import { maskUserId } from "./user-id.ts";

type Command = typeof curlCommand;

/** Shows the request as curl and grpcurl commands, and the response as JSON. */
export function mountRawView(store: Store): void {
  mountCommand(store, "curl", curlCommand);
  mountCommand(store, "grpcurl", grpcurlCommand);
  mountResponse(store);
}

function mountCommand(store: Store, id: string, command: Command): void {
  const block = byId(id, HTMLPreElement);
  store.subscribe((state) => {
    const text = commandText(command, state, state.isUserIdVisible ? state.userId : maskUserId(state.userId));
    if (block.textContent !== text) block.textContent = text;
  });
  copyOnClick(byId(`copy-${id}`, HTMLButtonElement), () =>
    commandText(command, store.state, store.state.userId),
  );
}

function commandText(command: Command, state: State, userId: string): string {
  return command(requestFrom(state), { base: new URL(document.baseURI), userId: userId || "YOUR_USER_ID" });
}

function mountResponse(store: Store): void {
  const block = byId("response", HTMLElement);
  // The block scrolls, so it must be reachable by keyboard.
  block.tabIndex = 0;
  const status = byId("response-status", HTMLSpanElement);
  const copy = byId("copy-response", HTMLButtonElement);
  let drawn: Outcome | "nothing" | undefined = "nothing";
  store.subscribe(({ outcome }) => {
    if (outcome === drawn) return;
    drawn = outcome;
    copy.hidden = outcome?.response === undefined;
    status.textContent = outcome?.httpStatus === undefined ? "" : `HTTP ${outcome.httpStatus}`;
    block.replaceChildren(outcome?.response === undefined ? "No response yet." : drawJson(outcome.response));
  });
  copyOnClick(copy, () => JSON.stringify(store.state.outcome?.response, null, 2));
}
