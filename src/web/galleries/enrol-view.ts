import { createDropZone } from "../photos/drop-zone.ts";
import { byId, reporting } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import { EnrolQueue } from "./enrol-queue.ts";
import { EnrolRow } from "./enrol-row.ts";
import { enrolPhoto } from "./enrolment.ts";
import type { KnownCrops } from "./face-crop.ts";
import type { Enrolment, Person } from "./gallery-api.ts";
import { PersonField } from "./person-field.ts";

/** Binds the form that enrols people by their photos. `onEnrolled` is called when all photos are through. */
export function mountEnrolView(crops: KnownCrops, onEnrolled: () => void) {
  const form = byId("enrol-form", HTMLFormElement);
  const list = byId("enrol-rows", HTMLUListElement);
  const skipQuality = byId("skip-quality", HTMLInputElement);
  const person = new PersonField();
  const progress = new EnrolProgress(() => queue.cancel());
  const queue = new EnrolQueue({
    enrol: (row, enrolment, signal) => enrolRow(row, enrolment, signal, crops),
    onChange: () => progress.draw(queue),
    onEnd: () => {
      progress.summarize(queue);
      if (queue.count("enrolled") > 0) onEnrolled();
    },
  });
  let galleryId = "";

  const run = reporting(() => queue.run());
  /** Assigns the named person to all photos that have none, and starts. */
  const submit = () => {
    const named = person.read();
    if (!named) return progress.draw(queue);
    queue.assign({ galleryId, ...named, skipQualityCheck: skipQuality.checked });
    run();
  };
  const add = (files: readonly File[]) => {
    queue.add(files.map((file) => new EnrolRow(file, undefined, run)));
    list.replaceChildren(...queue.rows.map(({ element }) => element));
    progress.clear();
    submit();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  addEventListener("beforeunload", (event) => {
    if (queue.isRunning) event.preventDefault();
  });
  const zone = { title: "Drop photos of this person", button: "Choose photos", isMultiple: true };
  byId("enrol-zone", HTMLDivElement).append(createDropZone({ ...zone, onFiles: add }));

  return {
    get isBusy() {
      return queue.isRunning;
    },
    /** Empties the form for another gallery, and cancels what is in progress. */
    show(id: string) {
      queue.clear();
      galleryId = id;
      list.replaceChildren();
      skipQuality.checked = false;
      person.clear();
      progress.clear();
      progress.draw(queue);
    },
    /** Tells who is enrolled already. */
    setPeople: (people: readonly Person[]) => person.setPeople(people),
    /** Prepares the form to add photos of a person. */
    addTo(chosen: Person) {
      person.choose(chosen);
      form.scrollIntoView({ block: "nearest" });
      form.querySelector<HTMLButtonElement>("[data-part=choose]")?.focus();
    },
  };
}

/** Enrols the photo of a row and shows the outcome in it. */
async function enrolRow(
  row: EnrolRow,
  enrolment: Enrolment,
  signal: AbortSignal,
  crops: KnownCrops,
): Promise<void> {
  row.send();
  try {
    const onProgress = (share: number) => row.send(share);
    const { faceId, crop } = await enrolPhoto(row.file, enrolment, { signal, onProgress });
    crops.add(enrolment.galleryId, enrolment.personId, faceId, crop);
    row.succeed(crop);
  } catch (error) {
    row.fail(error);
  }
}

/** The line that shows how far an enrolment is, with its buttons. */
class EnrolProgress {
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
