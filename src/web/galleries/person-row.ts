import { make, makeButton, visuallyHidden } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import { openAction } from "./action-dialog.ts";
import type { KnownCrops } from "./face-crop.ts";
import { deleteFace, type EnrolledFace, type Person } from "./gallery-api.ts";
import { nameOf } from "./people-list.ts";

/** What the rows of people and their dialogs share. */
export interface PeopleContext {
  readonly galleryId: string;
  readonly crops: KnownCrops;
  /** Everybody in the list. */
  readonly people: readonly Person[];
  onAddPhotos(person: Person): void;
  onEdit(person: Person): void;
  /** Reads people anew after a change, and shows what was done. */
  onChanged(personIds: readonly string[], done?: Outcome): void;
  /** Shows why something failed. */
  onFailure(text: string): void;
}

/** What was done, with a file that the user may save. */
export interface Outcome {
  readonly text: string;
  readonly offer?: { readonly label: string; save(): void };
}

/** Draws an enrolled person with its faces. */
export function drawPerson(person: Person, context: PeopleContext): HTMLElement {
  const { personId, displayName, faces } = person;
  const { galleryId, crops } = context;
  const name = nameOf(person);
  const crop = faces
    .map(({ faceId }) => crops.get(galleryId, personId, faceId, `A face of ${name}`))
    .find(Boolean);
  const heading = make(
    "div",
    { class: "person-name" },
    make("h3", {}, name),
    ...(displayName ? [make("code", {}, personId)] : []),
  );
  const subject = ` ${name}`;
  const add = { subject, "data-action": "add", "data-permission": "enrol" };
  const buttons = [
    makeButton("Add photos", () => context.onAddPhotos(person), add),
    makeButton("Edit", () => context.onEdit(person), { subject, "data-action": "edit" }),
  ];
  return make(
    "li",
    { class: "card person small", "data-person": personId },
    crop ?? drawInitial(name),
    heading,
    make("div", { class: "actions" }, ...buttons),
    drawFaces(person, context),
  );
}

/** Draws what stands for a face whose photo this tab does not have. */
function drawInitial(name: string): HTMLElement {
  return make("span", { class: "face-crop", "aria-hidden": "true" }, [...name][0]!.toUpperCase());
}

function drawFaces(person: Person, context: PeopleContext): HTMLElement {
  const { personId, faces } = person;
  const rows = faces.map((face) => {
    const { faceId, createTime } = face;
    const subject = ` Face ${faceId}`;
    const crop = context.crops.get(context.galleryId, personId, faceId, `Face ${faceId}`);
    return make(
      "li",
      {},
      crop ?? drawInitial(nameOf(person)),
      make(
        "span",
        {},
        make("code", {}, faceId),
        make("span", { class: "hint" }, `Enrolled on ${dateText(createTime)}`),
      ),
      makeButton("Delete", () => askToDeleteFace(person, face, context), {
        subject,
        "data-permission": "delete",
      }),
    );
  });
  return make(
    "details",
    { class: "faces" },
    make("summary", {}, plural(faces.length, "face"), visuallyHidden(` of ${nameOf(person)}`)),
    make("ul", { class: "plain-list" }, ...rows),
  );
}

function askToDeleteFace(
  person: Person,
  { faceId }: EnrolledFace,
  { galleryId, onChanged, onFailure }: PeopleContext,
): void {
  const { personId, faces } = person;
  const last = " It is the last one: without a face, the person cannot be identified.";
  const text = `The template ${faceId} will be erased. This cannot be undone.${faces.length === 1 ? last : ""}`;
  const submit = {
    label: "Delete face",
    isDestructive: true,
    run: () => deleteFace(galleryId, personId, faceId),
    onDone: () => onChanged([personId], { text: `A face of ${nameOf(person)} is deleted.` }),
  };
  const title = `Delete a face of ${nameOf(person)}?`;
  openAction({ title, content: [make("p", {}, text)], submit }, onFailure);
}

function dateText(time: string): string {
  return new Date(time).toLocaleDateString("en-GB", { dateStyle: "long" });
}
