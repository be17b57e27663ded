import { byId, make } from "../site/elements.ts";
import { drawFaceList, type FaceList } from "./face-list.ts";
import { ATTRIBUTES_CAVEAT } from "./faces.ts";
import { drawFailure, failureText } from "./failure-view.ts";
import { createMatchView, type MatchActions } from "./match/match-view.ts";
import { requestFrom } from "./request.ts";
import { drawSummary, summaryText } from "./response-summary.ts";
import type { Rectangle } from "./responses.ts";
import type { Outcome, Success } from "./send.ts";
import type { State, Store } from "./store.ts";
import { drawTimings } from "./timings.ts";
import { drawUserIdButton } from "./user-id.ts";

/** What the result causes. */
export interface ResultActions extends MatchActions {
  onRetry(): void;
  /** Selects a face for requests, or clears the selection. */
  selectFace(slot: number, box: Rectangle): void;
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
  let hadUserId = Boolean(store.state.userId);
  store.subscribe((state) => {
    const { outcome } = state;
    panel.setAttribute("aria-busy", String(state.isBusy));
    updating.hidden = !state.isUpdating;
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
    if (outcome !== drawn) status.textContent = outcome ? outcomeText(outcome) : "";
    drawn = outcome;
    const hasUserId = Boolean(state.userId);
    if (hasUserId !== hadUserId) body.querySelector(".stored")?.replaceWith(drawStoredNote(state));
    hadUserId = hasUserId;
    faces?.update(state);
    if (isMatch(outcome)) matchView.update(state);
  });
}

function showText(body: HTMLElement, text: string): void {
  if (body.textContent !== text) body.replaceChildren(make("p", { class: "empty" }, text));
}

function outcomeText(outcome: Outcome): string {
  return outcome.isSuccess ? summaryText(outcome.response.data) : failureText(outcome);
}

function emptyText(state: State): string {
  if (state.isBusy) return "Working…";
  const { images, operation } = requestFrom(state);
  if (images.every(({ photo }) => photo)) return `Press “${operation.action}” to see results.`;
  return images.length > 1 ? "Add two photos to see results." : "Add a photo to see results.";
}

/** Whether an outcome is a distance of two faces. */
function isMatch(outcome: Outcome | undefined): outcome is Success {
  return outcome?.isSuccess === true && outcome.response.data.score !== undefined;
}

/** Says that a result is of a sample, and how to get one of other photos. */
function drawStoredNote({ userId }: State): HTMLElement {
  const advice = userId ? ["Add your own photo."] : [drawUserIdButton(), " to analyse your own photos."];
  return make("p", { class: "notice stored" }, "Stored result of a sample. ", ...advice);
}

function drawSuccess(
  outcome: Success,
  state: State,
  faces: readonly HTMLElement[],
  matchView: ReturnType<typeof createMatchView>,
): Node[] {
  const { data } = outcome.response;
  const { milliseconds, model } = data.detail;
  return [
    ...(outcome.isStored ? [drawStoredNote(state)] : []),
    ...drawSummary(data),
    ...(isMatch(outcome) ? matchView.draw(outcome) : []),
    ...faces,
    ...(data.attributes ? [make("p", { class: "hint" }, ATTRIBUTES_CAVEAT)] : []),
    ...(outcome.isStored ? [] : [make("h3", {}, "Timing"), drawTimings(milliseconds, outcome.roundTripMs)]),
    make("p", { class: "hint" }, "Model ", make("code", {}, model)),
  ];
}
