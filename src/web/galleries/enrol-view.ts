import { byId } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import { createDropZone } from "./drop-zone.ts";
import { EnrolRow } from "./enrol-row.ts";
import { enrolPhoto } from "./enrolment.ts";
import type { KnownCrops } from "./face-crop.ts";
import type { Enrolment, Person } from "./gallery-api.ts";
import { PersonField } from "./person-field.ts";

/** How many photos are sent at the same time. */
const MAX_IN_FLIGHT = 2;

/** The part of the page that enrols people. */
export interface EnrolView {
  readonly isBusy: boolean;
  /** Empties the form for another gallery, and cancels what is in progress. */
  show(galleryId: string): void;
  /** Tells who is enrolled already. */
  setPeople(people: readonly Person[]): void;
  /** Prepares the form to add photos of a person. */
  addTo(person: Person): void;
}

/** Binds the form that enrols people by their photos. `onEnrolled` is called when all photos are through. */
export function mountEnrolView(crops: KnownCrops, onEnrolled: () => void): EnrolView {
  const form = byId("enrol-form", HTMLFormElement);
  const start = byId("enrol", HTMLButtonElement);
  const cancel = byId("cancel-enrol", HTMLButtonElement);
  const list = byId("enrol-rows", HTMLUListElement);
  const progress = byId("enrol-progress", HTMLProgressElement);
  const status = byId("enrol-status", HTMLParagraphElement);
  const skipQuality = byId("skip-quality", HTMLInputElement);
  const person = new PersonField();
  let galleryId = "";
  let rows: EnrolRow[] = [];
  let running: AbortController | undefined;

  const draw = () => {
    const finished = rows.filter(({ isFinished }) => isFinished).length;
    const waiting = rows.filter(({ state }) => state === "waiting").length;
    start.hidden = running !== undefined || waiting === 0;
    start.textContent = `Enrol ${plural(waiting, "photo")}`;
    cancel.hidden = running === undefined;
    progress.hidden = running === undefined;
    progress.max = rows.length;
    progress.value = finished;
    if (running) status.textContent = `${finished} of ${plural(rows.length, "photo")}`;
  };

  const enrol = async (row: EnrolRow, enrolment: Enrolment, signal: AbortSignal) => {
    row.send();
    try {
      const onProgress = (share: number) => row.send(share);
      const { faceId, crop } = await enrolPhoto(row.file, enrolment, { signal, onProgress });
      crops.add(enrolment.galleryId, enrolment.personId, faceId, crop);
      row.succeed(crop);
    } catch (error) {
      row.fail(error);
    }
    draw();
  };

  const work = async (signal: AbortSignal) => {
    for (;;) {
      const row = rows.find(({ state, enrolment }) => state === "waiting" && enrolment);
      if (!row) return;
      await enrol(row, row.enrolment!, signal);
    }
  };

  const run = async () => {
    if (running) return;
    const controller = new AbortController();
    running = controller;
    draw();
    await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, () => work(controller.signal)));
    // Another gallery may have been opened in the meantime.
    if (running !== controller) return;
    running = undefined;
    draw();
    const enrolled = rows.filter(({ state }) => state === "enrolled").length;
    const failed = rows.length - enrolled;
    status.textContent = `${plural(enrolled, "photo")} enrolled${failed > 0 ? `, ${failed} not` : ""}.`;
    if (enrolled > 0) onEnrolled();
  };
  const runNow = () => {
    run().catch(reportError);
  };

  /** Assigns the named person to all photos that have none, and starts. */
  const submit = () => {
    const named = person.read();
    if (!named) return draw();
    for (const row of rows) row.enrolment ??= { galleryId, ...named, skipQualityCheck: skipQuality.checked };
    runNow();
  };
  const add = (files: readonly File[]) => {
    if (!running) rows = rows.filter(({ isFinished }) => !isFinished);
    rows.push(...files.map((file) => new EnrolRow(file, undefined, runNow)));
    list.replaceChildren(...rows.map(({ element }) => element));
    status.textContent = "";
    submit();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  cancel.addEventListener("click", () => running?.abort());
  addEventListener("beforeunload", (event) => {
    if (running) event.preventDefault();
  });
  byId("enrol-zone", HTMLDivElement).append(
    createDropZone({
      title: "Drop photos of this person",
      button: "Choose photos",
      isMultiple: true,
      onFiles: add,
    }),
  );

  return {
    get isBusy() {
      return running !== undefined;
    },
    show(id) {
      running?.abort();
      running = undefined;
      galleryId = id;
      rows = [];
      list.replaceChildren();
      status.textContent = "";
      skipQuality.checked = false;
      person.clear();
      draw();
    },
    setPeople: (people) => person.setPeople(people),
    addTo(chosen) {
      person.choose(chosen);
      form.scrollIntoView({ block: "nearest" });
      form.querySelector<HTMLButtonElement>("[data-part=choose]")?.focus();
    },
  };
}
