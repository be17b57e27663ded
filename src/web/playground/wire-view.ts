import { curlFrom, grpcurlFrom } from "./commands.ts";
import { copyOnClick } from "./copy.ts";
import { byId } from "./elements.ts";
import { drawJson } from "./json-view.ts";
import { type FaceRequest, requestFrom } from "./request.ts";
import type { Outcome } from "./send.ts";
import type { State, Store } from "./store.ts";
import { masked } from "./user-id.ts";

type Command = typeof curlFrom;

/** Shows the request as commands, and the answer as JSON. */
export function openWireView(store: Store): void {
  openCommand(store, "curl", curlFrom);
  openCommand(store, "grpcurl", grpcurlFrom);
  openAnswer(store);
}

function openCommand(store: Store, id: string, command: Command): void {
  const block = byId(id, HTMLPreElement);
  store.watch((state) => {
    const text = textOf(command, state, state.isRevealed ? state.userId : masked(state.userId));
    if (block.textContent !== text) block.textContent = text;
  });
  copyOnClick(byId(`copy-${id}`, HTMLButtonElement), () => textOf(command, store.state, store.state.userId));
}

function textOf(command: Command, state: State, userId: string): string {
  const request: FaceRequest = requestFrom(state);
  return command(request, { base: new URL(document.baseURI), userId: userId || "YOUR_USER_ID" });
}

function openAnswer(store: Store): void {
  const block = byId("answer", HTMLElement);
  // It scrolls, so the keyboard must get there.
  block.tabIndex = 0;
  const status = byId("answer-status", HTMLSpanElement);
  const copy = byId("copy-answer", HTMLButtonElement);
  const answerOf = () => store.state.outcome?.answer;
  let drawn: Outcome | "nothing" | undefined = "nothing";
  store.watch(({ outcome }) => {
    if (outcome === drawn) return;
    drawn = outcome;
    copy.hidden = outcome?.answer === undefined;
    status.textContent = outcome?.httpStatus === undefined ? "" : `HTTP ${outcome.httpStatus}`;
    block.replaceChildren(outcome?.answer === undefined ? "No answer yet." : drawJson(outcome.answer));
  });
  copyOnClick(copy, () => JSON.stringify(answerOf(), null, 2));
}
