import { byId, make, visuallyHidden } from "../site/elements.ts";
import { drawFaceCard } from "./face-card.ts";
import { facesFrom, isSameFace } from "./faces.ts";
import { drawFailure, failureText } from "./failure-view.ts";
import { drawSummary, summaryText } from "./response-summary.ts";
import type { Rectangle } from "./responses.ts";
import type { Outcome, Success } from "./send.ts";
import { type State, type Store, toggleFace } from "./store.ts";
import { drawTimings } from "./timings.ts";

/** A face of the response, and the button that selects it. */
interface Card {
  readonly element: HTMLElement;
  readonly selectButton: HTMLButtonElement;
  readonly slot: number;
  readonly box: Rectangle;
}

/** Shows the outcome of the last request, and announces it to screen readers. */
export function mountResultView(store: Store, onRetry: () => void): void {
  const panel = byId("result", HTMLElement);
  const body = byId("result-body", HTMLDivElement);
  const status = byId("status", HTMLParagraphElement);
  let drawn: Outcome | "nothing" | undefined = "nothing";
  let cards: readonly Card[] = [];
  store.subscribe((state) => {
    panel.setAttribute("aria-busy", String(state.isBusy));
    if (state.outcome !== drawn) {
      drawn = state.outcome;
      cards = drawn?.isSuccess ? cardsFrom(store, drawn) : [];
      body.replaceChildren(...draw(state, cards, onRetry));
      status.textContent = drawn ? outcomeText(drawn) : "";
    }
    for (const { selectButton, slot, box } of cards)
      selectButton.setAttribute(
        "aria-pressed",
        String(isSameFace(state.slots[slot]?.photo?.selectedBox, box)),
      );
  });
}

function outcomeText(outcome: Outcome): string {
  return outcome.isSuccess ? summaryText(outcome.response.data) : failureText(outcome);
}

function draw({ outcome }: State, cards: readonly Card[], onRetry: () => void): Node[] {
  if (!outcome) return [make("p", { class: "empty" }, "No result yet. Add a photo and run the operation.")];
  if (!outcome.isSuccess) return [drawFailure(outcome, onRetry)];
  const { data } = outcome.response;
  const { milliseconds, model } = data.detail;
  return [
    ...drawSummary(data),
    make("ol", { class: "face-cards" }, ...cards.map(({ element }) => element)),
    make("h3", {}, "Timing"),
    drawTimings(milliseconds, outcome.roundTripMs),
    make("p", { class: "hint" }, "Model ", make("code", {}, model)),
  ];
}

function cardsFrom(store: Store, { request, response: { data } }: Success): Card[] {
  const images = facesFrom(data);
  return images.flatMap((faces, image) => {
    const { slot, photo, box: sent } = request.images[image]!;
    const count = data.detail.images[image]!.faces_found;
    const origin = sent
      ? "Selected by its box"
      : count > 1
        ? `First of ${count} faces`
        : "Only face in the photo";
    return faces.map((face, i) => {
      const box = face.rectangle;
      const title = images.length > 1 ? `Photo ${slot + 1}` : `Face ${i + 1}`;
      const selectButton = make("button", { type: "button" }, "Use this face", visuallyHidden(`, ${title}`));
      selectButton.addEventListener("click", () => toggleFace(store, slot, box));
      return {
        element: drawFaceCard(photo!, face, { title, origin }, selectButton),
        selectButton,
        slot,
        box,
      };
    });
  });
}
