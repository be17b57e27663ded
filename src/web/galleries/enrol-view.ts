import { createDropZone } from "../photos/drop-zone.ts";
import { type Drop, readDrop } from "../photos/dropped-files.ts";
import { byId, reporting } from "../site/elements.ts";
import { bindFolderDialog, groupByFolder, planFolders } from "./enrol-folders.ts";
import { enrolRow } from "./enrol-photo.ts";
import { openPreview } from "./enrol-preview.ts";
import { EnrolProgress } from "./enrol-progress.ts";
import { EnrolQueue } from "./enrol-queue.ts";
import { EnrolRow } from "./enrol-row.ts";
import type { KnownCrops } from "./face-crop.ts";
import { failureText } from "./failure.ts";
import type { Person } from "./gallery-api.ts";
import { type NamedPerson, PersonField } from "./person-field.ts";
import { readPeople } from "./read-people.ts";

/** For more, the command line is better suited. */
const MAX_PHOTOS = 10_000;

/** Binds the form that enrols people by their photos. `onEnrolled` is called when all photos are through. */
export function mountEnrolView(crops: KnownCrops, onEnrolled: () => void) {
  const form = byId("enrol-form", HTMLFormElement);
  const list = byId("enrol-rows", HTMLUListElement);
  const skipQuality = byId("skip-quality", HTMLInputElement);
  const problem = byId("folder-problem", HTMLParagraphElement);
  const person = new PersonField();
  const dismiss = (isDismissed: (row: EnrolRow) => boolean) => {
    for (const row of queue.rows) if (isDismissed(row)) row.element.remove();
    queue.remove(isDismissed);
    progress.draw(queue);
    // What was pressed is gone.
    const choose = form.querySelector<HTMLElement>("[data-part=choose]");
    (list.querySelector("button") ?? choose)?.focus();
  };
  const progress = new EnrolProgress({
    onCancel: () => stop(),
    onDismissAll: () => dismiss(({ state }) => state === "failed"),
  });
  const queue = new EnrolQueue({
    enrol: async (row, signal) => {
      const outcome = await enrolRow(row, signal, crops);
      // Another gallery may have been opened in the meantime.
      if (!queue.rows.includes(row)) return;
      if (outcome === "enrolled") person.forget(row.enrolment!);
      if (outcome === "stop" && row.faceIds) stop();
      if (row.state === "failed" && !row.element.isConnected) list.append(row.element);
    },
    onChange: () => progress.draw(queue),
    onEnd: () => {
      progress.summarize(queue, leftOut);
      leftOut = 0;
      if (queue.count("enrolled") > 0) onEnrolled();
    },
  });
  let galleryId = "";
  /** How many photos of folders were not sent, because the run was stopped. */
  let leftOut = 0;
  const stop = () => {
    queue.cancel();
    leftOut += queue.remove(({ faceIds, state }) => faceIds !== undefined && state === "waiting");
  };

  const run = reporting(() => queue.run());
  const enrolmentOf = ({ personId, displayName }: NamedPerson) => {
    const skipQualityCheck = skipQuality.checked;
    return { galleryId, personId, displayName, skipQualityCheck, checkPerson: true };
  };
  /** Assigns the named person to all photos that have none, and starts. */
  const submit = () => {
    const named = person.read();
    if (!named) return progress.draw(queue);
    queue.assign(enrolmentOf(named));
    run();
  };
  const actions = { onRetry: run, onDismiss: (row: EnrolRow) => dismiss((other) => other === row) };
  const add = (rows: readonly EnrolRow[]) => {
    queue.add(rows);
    const isListed = ({ faceIds, state }: EnrolRow) => !faceIds || state === "failed";
    list.replaceChildren(...queue.rows.filter(isListed).map(({ element }) => element));
    progress.clear();
  };
  const addPhotos = (files: readonly File[]) => {
    problem.textContent = "";
    add(files.map((file) => new EnrolRow(file, undefined, actions)));
    submit();
  };
  /** Shows whom the photos of folders would enrol. Loose ones belong to the person of the form. */
  const addFolders = async ({ files, folder, notes }: Drop) => {
    const groups = groupByFolder(files.slice(0, MAX_PHOTOS));
    problem.textContent = files.length === 0 ? `${folder} has no photos.` : "";
    if (groups.folders.size === 0 && groups.loose.length > 0) return addPhotos(groups.loose);
    if (files.length === 0) return;
    const shownGallery = galleryId;
    const { people } = await readPeople(galleryId);
    const plan = planFolders(groups, person.named, people);
    if (shownGallery !== galleryId) return;
    openPreview({ ...plan, skipped: [...plan.skipped, ...notes] }, () => {
      add(
        plan.people.flatMap((planned) =>
          planned.photos.map((photo) => {
            const row = new EnrolRow(photo, enrolmentOf(planned), actions);
            row.faceIds = planned.faceIds;
            return row;
          }),
        ),
      );
      run();
    });
  };
  const addDrop = reporting(async (drop: Drop | Promise<Drop>) => {
    const read = await drop;
    if (read.folder === undefined) return read.files.length > 0 ? addPhotos(read.files) : undefined;
    await addFolders(read).catch((error: unknown) => {
      problem.textContent = failureText(error);
    });
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  addEventListener("beforeunload", (event) => {
    if (queue.isRunning) event.preventDefault();
  });
  const onDrop = (data: DataTransfer) => addDrop(readDrop(data, MAX_PHOTOS));
  const zone = { title: "Drop photos of this person", button: "Choose photos", isMultiple: true };
  byId("enrol-zone", HTMLDivElement).append(createDropZone({ ...zone, onFiles: addPhotos, onDrop }));
  bindFolderDialog(byId("choose-folder", HTMLButtonElement), MAX_PHOTOS, addDrop);

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
      problem.textContent = "";
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
