import { make, makeButton } from "../site/elements.ts";
import { RequestError } from "../site/request-error.ts";
import { failureText, isCancelled, isQualityFailure } from "./failure.ts";
import type { Enrolment } from "./gallery-api.ts";

/** A photo to enrol, and its line in the page. */
export class EnrolRow {
  readonly element = make("li", { class: "card enrol-row" });
  readonly file: File;
  /** For whom; undefined until the user has named the person. */
  enrolment: Enrolment | undefined;
  state: "waiting" | "sending" | "enrolled" | "failed" = "waiting";
  readonly #text = make("p", { class: "hint" });
  readonly #picture = make("span", { class: "face-crop", "aria-hidden": "true" });
  readonly #actions = make("div", { class: "actions" });
  readonly #onRetry: (row: EnrolRow) => void;

  constructor(file: File, enrolment: Enrolment | undefined, onRetry: (row: EnrolRow) => void) {
    this.file = file;
    this.enrolment = enrolment;
    this.#onRetry = onRetry;
    const text = make("div", {}, make("strong", {}, file.name), this.#text);
    this.element.append(this.#picture, text, this.#actions);
    this.wait();
  }

  get isFinished(): boolean {
    return this.state === "enrolled" || this.state === "failed";
  }

  wait(): void {
    this.#show("waiting", "Waiting");
  }

  send(share = 0): void {
    this.#show("sending", share < 1 ? `Sending, ${Math.floor(100 * share)}%` : "Looking for the face…");
  }

  succeed(crop: HTMLCanvasElement): void {
    this.#show("enrolled", "Enrolled");
    this.#picture.replaceWith(crop);
  }

  /** Shows why the photo was not enrolled, and what can be done. Throws errors that are defects. */
  fail(error: unknown): void {
    if (isCancelled(error)) this.#show("failed", "Cancelled.");
    else this.#show("failed", failureText(error));
    if (isQualityFailure(error)) this.#offer("Enrol anyway", { skipQualityCheck: true });
    else if (error instanceof RequestError && error.facts.isRetryable) this.#offer("Try again", {});
  }

  #show(state: EnrolRow["state"], text: string): void {
    this.state = state;
    this.element.dataset.state = state;
    this.#text.textContent = text;
    this.#actions.replaceChildren();
  }

  #offer(label: string, changes: Partial<Enrolment>): void {
    const retry = () => {
      if (this.enrolment) this.enrolment = { ...this.enrolment, ...changes };
      this.wait();
      this.#onRetry(this);
    };
    this.#actions.append(makeButton(label, retry, { subject: `, ${this.file.name}` }));
  }
}
