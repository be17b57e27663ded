import { byId } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import type { EnrolQueue } from "./enrol-queue.ts";

/** What the buttons do. */
interface ProgressActions {
  onCancel(): void;
  onDismissAll(): void;
}

/** The line that shows how far an enrolment is, with its buttons. */
export class EnrolProgress {
  readonly #start = byId("enrol", HTMLButtonElement);
  readonly #cancel = byId("cancel-enrol", HTMLButtonElement);
  readonly #dismiss = byId("dismiss-all", HTMLButtonElement);
  readonly #bar = byId("enrol-progress", HTMLProgressElement);
  readonly #status = byId("enrol-status", HTMLParagraphElement);

  constructor({ onCancel, onDismissAll }: ProgressActions) {
    this.#cancel.addEventListener("click", onCancel);
    this.#dismiss.addEventListener("click", onDismissAll);
  }

  draw(queue: EnrolQueue): void {
    const finished = queue.count("enrolled", "known", "failed");
    const waiting = queue.count("waiting");
    const total = finished + waiting + queue.count("sending");
    this.#start.hidden = queue.isRunning || waiting === 0;
    this.#start.textContent = `Enrol ${plural(waiting, "photo")}`;
    this.#cancel.hidden = !queue.isRunning;
    this.#dismiss.hidden = queue.rows.filter(({ state }) => state === "failed").length < 2;
    this.#bar.hidden = !queue.isRunning;
    this.#bar.max = total;
    this.#bar.value = finished;
    if (queue.isRunning) this.#status.textContent = `${finished} of ${plural(total, "photo")}`;
  }

  /** Says how many photos were enrolled, and how many of a folder were left out. */
  summarize(queue: EnrolQueue, leftOut: number): void {
    const [known, failed] = [queue.count("known"), queue.count("failed")];
    const parts = [
      `${plural(queue.count("enrolled"), "photo")} enrolled`,
      ...(known > 0 ? [`${known.toLocaleString("en")} enrolled before`] : []),
      ...(failed > 0 ? [`${failed.toLocaleString("en")} not`] : []),
    ];
    const rest =
      leftOut > 0 ? ` ${plural(leftOut, "photo")} left out: choose the folder again to go on.` : "";
    this.#status.textContent = `${parts.join(", ")}.${rest}`;
  }

  clear(): void {
    this.#status.textContent = "";
  }
}
