import { ATTRIBUTES_CAVEAT, estimatesOf } from "../photos/attributes.ts";
import type { Box } from "../photos/geometry.ts";
import { byId, make } from "../site/elements.ts";
import { drawKeyButton } from "./api-key.ts";
import { drawFaceList, type FaceList } from "./face-list.ts";
import { drawFailure, failureText } from "./failure-view.ts";
import { createMatchView, type MatchActions } from "./match/match-view.ts";
import { requestFrom } from "./request.ts";
import { drawHeadline, summaryText } from "./response-summary.ts";
import { isComparison } from "./responses.ts";
import type { Outcome, Success } from "./send.ts";
import type { State, Store } from "./store.ts";

/** What the result causes. */
export interface ResultActions extends MatchActions {
  onRetry(): void;
  /** Selects a face for requests, or clears the selection. */
  selectFace(slot: number, box: Box): void;
}

/** Shows the outcome of the last request, and announces it to screen readers. */
export function mountResultView(store: Store, actions: ResultActions): void {
  const { onRetry, selectFace } = actions;
  const matchView = createMatchView(store, actions);
  const panel = byId("result", HTMLElement);
  const body = byId("result-body", HTMLDivElement);
  const status = byId("status", HTMLParagraphElement);
  const updating = byId("updating", HTMLSpanElement);
  let drawn: Outcome | undefined;
  let faces: FaceList | undefined;
  let hadKey = Boolean(store.state.apiKey);
  store.subscribe((state) => {
    const { outcome } = state;
    panel.setAttribute("aria-busy", String(state.isBusy));
    updating.hidden = !state.isUpdating;
    panel.hidden = state.behindBatch !== undefined && state.behindBatch.outcome === outcome;
    if (!outcome) showText(body, emptyText(state));
    else if (outcome !== drawn) {
      faces = outcome.isSuccess ? drawFaceList(state, outcome, selectFace) : undefined;
      body.replaceChildren(
        ...(outcome.isSuccess
          ? drawSuccess(outcome, state, faces?.elements ?? [], matchView)
          : [drawFailure(outcome, onRetry)]),
      );
      panel.scrollTop = 0;
    }
    if (outcome !== drawn) status.textContent = outcome ? outcomeText(outcome, state) : "";
    drawn = outcome;
    const hasKey = Boolean(state.apiKey);
    if (hasKey !== hadKey) body.querySelector(".stored")?.replaceWith(drawStoredNote(state));
    hadKey = hasKey;
    faces?.update(state);
    if (outcome?.isSuccess && isComparison(outcome.response)) matchView.update(state);
  });
}

function showText(body: HTMLElement, text: string): void {
  if (body.textContent !== text) body.replaceChildren(make("p", { class: "empty" }, text));
}

function outcomeText(outcome: Outcome, { threshold }: State): string {
  return outcome.isSuccess ? summaryText(outcome.response, threshold) : failureText(outcome);
}

function emptyText(state: State): string {
  if (state.isBusy) return "Working…";
  const { images, operation } = requestFrom(state);
  if (images.every(({ photo }) => photo)) return `Press “${operation.action}” to see results.`;
  return images.length > 1 ? "Add two photos to see results." : "Add a photo to see results.";
}

/** Says that a result is of a sample, and how to get one of other photos. */
function drawStoredNote({ apiKey }: State): HTMLElement {
  const advice = apiKey ? ["Add your own photo."] : [drawKeyButton(), " to analyse your own photos."];
  return make("p", { class: "notice stored" }, "Stored result of a sample. ", ...advice);
}

function drawSuccess(
  outcome: Success,
  state: State,
  faces: readonly HTMLElement[],
  matchView: ReturnType<typeof createMatchView>,
): Node[] {
  const { response, isStored, roundTripMs } = outcome;
  const hasAttributes =
    !isComparison(response) && response.faces.some((face) => estimatesOf(face).length > 0);
  return [
    ...(isStored ? [drawStoredNote(state)] : []),
    ...(isComparison(response)
      ? matchView.draw(outcome, response)
      : [drawHeadline(response, state.threshold)]),
    ...faces,
    ...(hasAttributes ? [make("p", { class: "hint" }, ATTRIBUTES_CAVEAT)] : []),
    ...(isStored ? [] : [make("p", { class: "hint" }, `Answered in ${Math.round(roundTripMs)} ms.`)]),
  ];
}
