import { answerText, drawAnswer } from "./answer-view.ts";
import type { Rectangle } from "./answers.ts";
import { byId, make, spoken } from "./elements.ts";
import { drawFaceCard } from "./face-card.ts";
import { facesFrom, isSameFace } from "./faces.ts";
import { drawFailure, failureText } from "./failure-view.ts";
import type { Outcome, Success } from "./send.ts";
import { type State, type Store, toggleFace } from "./store.ts";
import { drawTimes } from "./times.ts";

/** A face of the answer on the page, and the button that chooses it. */
interface Card {
  readonly element: HTMLElement;
  readonly use: HTMLButtonElement;
  readonly slot: number;
  readonly box: Rectangle;
}

/** Shows what became of the last request, and says it in one sentence to those who hear it. */
export function openResultView(store: Store, onRetry: () => void): void {
  const panel = byId("result", HTMLElement);
  const body = byId("result-body", HTMLDivElement);
  const status = byId("status", HTMLParagraphElement);
  let drawn: Outcome | "nothing" | undefined = "nothing";
  let cards: readonly Card[] = [];
  store.watch((state) => {
    panel.setAttribute("aria-busy", String(state.isWorking));
    if (state.outcome !== drawn) {
      drawn = state.outcome;
      cards = drawn?.isSuccess ? cardsFrom(store, drawn) : [];
      body.replaceChildren(...draw(state, cards, onRetry));
      status.textContent = drawn ? sentenceFrom(drawn) : "";
    }
    for (const { use, slot, box } of cards)
      use.setAttribute("aria-pressed", String(isSameFace(state.slots[slot]?.photo?.chosen, box)));
  });
}

function sentenceFrom(outcome: Outcome): string {
  return outcome.isSuccess ? answerText(outcome.answer.data) : failureText(outcome);
}

function draw({ outcome }: State, cards: readonly Card[], onRetry: () => void): Node[] {
  if (!outcome) return [make("p", { class: "nothing" }, "Nothing yet. Give a photo and run the operation.")];
  if (!outcome.isSuccess) return [drawFailure(outcome, onRetry)];
  const { data } = outcome.answer;
  const { milliseconds, model } = data.detail;
  return [
    ...drawAnswer(data),
    make("ol", { class: "face-cards" }, ...cards.map(({ element }) => element)),
    make("h3", {}, "Time"),
    drawTimes(milliseconds, outcome.roundTripMs),
    make("p", { class: "hint" }, "Model ", make("code", {}, model)),
  ];
}

function cardsFrom(store: Store, { request, answer: { data } }: Success): Card[] {
  const images = facesFrom(data);
  return images.flatMap((faces, image) => {
    const { slot, photo, box: sent } = request.images[image]!;
    const count = data.detail.images[image]!.faces_found;
    const origin = sent ? "Chosen by its box" : count > 1 ? `The first of ${count} faces` : "The only face";
    return faces.map((face, i) => {
      const box = face.rectangle;
      const title = images.length > 1 ? `Photo ${slot + 1}` : `Face ${i + 1}`;
      const use = make("button", { type: "button" }, "Use this box", spoken(`, ${title}`));
      use.addEventListener("click", () => toggleFace(store, slot, box));
      return { element: drawFaceCard(photo!, face, { title, origin }, use), use, slot, box };
    });
  });
}
