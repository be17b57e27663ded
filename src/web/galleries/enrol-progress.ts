import { byId } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import type { EnrolQueue } from "./enrol-queue.ts";

/** The line that shows how far an enrolment is, with its buttons. */
export class EnrolProgress {
  readonly #start = byId("enrol", HTMLButtonElement);
  readonly #cancel = byId("cancel-enrol", HTMLButtonElement);
  readonly #bar = byId("enrol-progress", HTMLProgressElement);
  readonly #status = byId("enrol-status", HTMLParagraphElement);

  constructor(onCancel: () => void) {
    this.#cancel.addEventListener("click", onCancel);
  }

  draw(queue: EnrolQueue): void {
    const finished = queue.count("enrolled", "failed");
    const waiting = queue.count("waiting");
    this.#start.hidden = queue.isRunning || waiting === 0;
    this.#start.textContent = `Enrol ${plural(waiting, "photo")}`;
    this.#cancel.hidden = !queue.isRunning;
    this.#bar.hidden = !queue.isRunning;
    this.#bar.max = queue.rows.length;
    this.#bar.value = finished;
    if (queue.isRunning) this.#status.textContent = `${finished} of ${plural(queue.rows.length, "photo")}`;
  }

  /** Says how many photos were enrolled. */
  summarize(queue: EnrolQueue): void {
    const enrolled = queue.count("enrolled");
    const failed = queue.rows.length - enrolled;
    this.#status.textContent = `${plural(enrolled, "photo")} enrolled${failed > 0 ? `, ${failed} not` : ""}.`;
  }

  clear(): void {
    this.#status.textContent = "";
  }
}
