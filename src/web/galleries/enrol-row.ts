import { type Quality, qualityText } from "../photos/quality-words.ts";
import { make, makeButton } from "../site/elements.ts";
import { RequestError } from "../site/request-error.ts";
import { failureText, isCancelled, isQualityFailure } from "./failure.ts";
import type { Enrolment } from "./gallery-api.ts";
import type { PersonDoubt } from "./person-doubt.ts";

/** What the user can do with a row. */
interface RowActions {
  onRetry(row: EnrolRow): void;
  onDismiss(row: EnrolRow): void;
}

/** A photo to enrol, and its line in the page. */
export class EnrolRow {
  readonly element = make("li", { class: "card enrol-row" });
  readonly file: File;
  /** For whom; undefined until the user has named the person. */
  enrolment: Enrolment | undefined;
  /** The faces that the person of a folder has. Of such a photo, only a failure is shown. */
  faceIds: Set<string> | undefined;
  state: "waiting" | "sending" | "enrolled" | "known" | "failed" = "waiting";
  /** Whether the row belongs to a run that is over. */
  isOld = false;
  readonly #text = make("div", { class: "hint" });
  readonly #picture = make("span", { class: "face-crop", "aria-hidden": "true" });
  readonly #actions = make("div", { class: "actions" });
  readonly #on: RowActions;

  constructor(file: File, enrolment: Enrolment | undefined, actions: RowActions) {
    this.file = file;
    this.enrolment = enrolment;
    this.#on = actions;
    const text = make("div", {}, make("strong", {}, file.name), this.#text);
    this.element.append(this.#picture, text, this.#actions);
    this.wait();
  }

  get isFinished(): boolean {
    return this.state !== "waiting" && this.state !== "sending";
  }

  wait(): void {
    this.isOld = false;
    this.#show("waiting", "Waiting");
    if (!this.enrolment) this.#offerDismissal("Dismiss");
  }

  send(share = 0): void {
    this.#show("sending", share < 1 ? `Sending, ${Math.floor(100 * share)}%` : "Looking for the face…");
  }

  succeed(crop: HTMLCanvasElement, quality?: Quality): void {
    const { displayName, personId } = this.enrolment!;
    const words = quality ? `. ${qualityText(quality)}` : "";
    this.#show("enrolled", `Enrolled as ${displayName || personId}${words}`);
    // Crops of thousands of photos would need too much memory.
    if (this.element.isConnected) this.#picture.replaceWith(crop);
  }

  /** The face was enrolled before. */
  skip(): void {
    this.#show("known", "Enrolled before");
  }

  /** Asks whether the face is of the person. */
  ask({ question, distances }: PersonDoubt): void {
    const numbers = make("details", {}, make("summary", {}, "Distances"), distances);
    this.#show("failed", question, numbers);
    this.element.dataset.state = "doubtful";
    this.#offer("Enrol anyway", { checkPerson: false });
    this.#offerDismissal("Skip");
  }

  /** Shows why the photo was not enrolled, and what can be done. Throws errors that are defects. */
  fail(error: unknown): void {
    if (isCancelled(error)) this.#show("failed", "Cancelled.");
    else this.#show("failed", failureText(error));
    if (isQualityFailure(error)) this.#offer("Enrol anyway", { skipQualityCheck: true });
    else if (error instanceof RequestError && error.facts.isRetryable) this.#offer("Try again", {});
    this.#offerDismissal("Dismiss");
  }

  #show(state: EnrolRow["state"], ...text: readonly (Node | string)[]): void {
    this.state = state;
    this.element.dataset.state = state;
    this.#text.replaceChildren(...text);
    this.#actions.replaceChildren();
  }

  #offer(label: string, changes: Partial<Enrolment>): void {
    const retry = () => {
      if (this.enrolment) this.enrolment = { ...this.enrolment, ...changes };
      this.wait();
      this.#on.onRetry(this);
    };
    this.#actions.append(makeButton(label, retry, { subject: `, ${this.file.name}` }));
  }

  #offerDismissal(label: string): void {
    const dismiss = () => this.#on.onDismiss(this);
    this.#actions.append(makeButton(label, dismiss, { subject: `, ${this.file.name}` }));
  }
}
