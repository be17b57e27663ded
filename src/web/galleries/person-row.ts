import { confirmAction } from "../site/dialog.ts";
import { saveText } from "../site/download.ts";
import { make, makeButton, visuallyHidden } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import type { KnownCrops } from "./face-crop.ts";
import {
  deleteFace,
  deletePerson,
  type EnrolledFace,
  exportPerson,
  type Person,
  renamePerson,
} from "./gallery-api.ts";
import { createRenameForm, focusField } from "./rename-form.ts";

/** What the rows of people share. */
export interface PeopleContext {
  readonly galleryId: string;
  readonly crops: KnownCrops;
  /** Runs a call and shows that it is done, or its error. */
  attempt(call: () => Promise<void>, done: string): Promise<boolean>;
  /** Runs a change and then shows the people again; shows the error if it fails. */
  change(call: () => Promise<void>, done: string): Promise<void>;
  /** Reads the people again, and focuses what a selector finds. */
  redraw(focus: string): void;
  onAddPhotos(person: Person): void;
}

/** Draws an enrolled person with its faces and with what can be done to them. */
export function drawPerson(person: Person, context: PeopleContext): HTMLElement {
  const { personId, displayName, faces } = person;
  const { galleryId, crops } = context;
  const name = displayName || personId;
  const crop = faces
    .map(({ faceId }) => crops.get(galleryId, personId, faceId, `A face of ${name}`))
    .find(Boolean);
  const row = make("li", { class: "card person small", "data-person": personId });
  const heading = make(
    "div",
    { class: "person-name" },
    make("h3", {}, name),
    ...(displayName ? [make("code", {}, personId)] : []),
  );
  const buttons = [
    drawButton("Add photos", name, "add", () => context.onAddPhotos(person)),
    drawButton("Rename", name, "rename", () => startRename(row, heading, person, context)),
    drawButton("Export", name, "export", () => savePerson(person, context)),
    drawButton("Delete", name, "delete", () => removePerson(person, context)),
  ];
  row.append(
    crop ?? drawInitial(name),
    heading,
    make("div", { class: "actions" }, ...buttons),
    drawFaces(person, context),
  );
  return row;
}

/** Draws what stands for a face whose photo this tab does not have. */
function drawInitial(name: string): HTMLElement {
  return make("span", { class: "face-crop", "aria-hidden": "true" }, [...name][0]!.toUpperCase());
}

function drawFaces(person: Person, context: PeopleContext): HTMLElement {
  const { personId, displayName, faces } = person;
  const rows = faces.map((face) => {
    const { faceId, createTime } = face;
    const label = `Face ${faceId}`;
    const crop = context.crops.get(context.galleryId, personId, faceId, label);
    return make(
      "li",
      {},
      crop ?? drawInitial(displayName || personId),
      make(
        "span",
        {},
        make("code", {}, faceId),
        make("span", { class: "hint" }, `Enrolled on ${dateText(createTime)}`),
      ),
      drawButton("Delete", label, "delete", () => removeFace(person, face, context)),
    );
  });
  return make(
    "details",
    { class: "faces" },
    make("summary", {}, plural(faces.length, "face"), visuallyHidden(` of ${displayName || personId}`)),
    make("ul", { class: "plain-list" }, ...rows),
  );
}

function startRename(
  row: HTMLElement,
  heading: HTMLElement,
  { personId, displayName }: Person,
  { galleryId, redraw }: PeopleContext,
): void {
  const open = row.querySelector<HTMLFormElement>(".rename");
  if (open) {
    focusField(open);
    return;
  }
  const form = createRenameForm({
    label: `New name of ${displayName || personId}`,
    name: displayName,
    save: (name) => renamePerson(galleryId, personId, name),
    onEnd: () => {
      form.replaceWith(heading);
      row.querySelector<HTMLElement>("[data-action=rename]")?.focus();
      // Also if nothing was saved, because the list keeps most of the row while it has the form.
      redraw(`[data-person="${personId}"] [data-action=rename]`);
    },
  });
  heading.replaceWith(form);
  focusField(form);
}

async function savePerson({ personId, displayName }: Person, context: PeopleContext): Promise<void> {
  const save = async () => {
    const exported = await exportPerson(context.galleryId, personId);
    saveText(JSON.stringify(exported, undefined, 2), `${personId}.json`, "application/json");
  };
  const name = displayName || personId;
  await context.attempt(save, `${name} is exported. The file is biometric data: protect it.`);
}

async function removePerson({ personId, displayName, faces }: Person, context: PeopleContext): Promise<void> {
  const name = displayName || personId;
  const isAgreed = await confirmAction({
    title: `Delete ${name}?`,
    text: `${plural(faces.length, "template")} of this person will be erased. This cannot be undone.`,
    action: "Delete person",
  });
  if (isAgreed) await context.change(() => deletePerson(context.galleryId, personId), `${name} is deleted.`);
}

async function removeFace(
  { personId, displayName, faces }: Person,
  { faceId }: EnrolledFace,
  context: PeopleContext,
): Promise<void> {
  const name = displayName || personId;
  const isLast = faces.length === 1;
  const isAgreed = await confirmAction({
    title: `Delete a face of ${name}?`,
    text: `The template ${faceId} will be erased. This cannot be undone.${
      isLast ? " It is the last one: without a face, the person cannot be identified." : ""
    }`,
    action: "Delete face",
  });
  if (!isAgreed) return;
  await context.change(
    () => deleteFace(context.galleryId, personId, faceId),
    `A face of ${name} is deleted.`,
  );
}

/** The permission that each button needs. */
const NEEDS = { add: "enrol", rename: "enrol", export: "export", delete: "delete" } as const;

function drawButton(
  label: string,
  subject: string,
  action: keyof typeof NEEDS,
  onClick: () => unknown,
): HTMLElement {
  const data = { "data-action": action, "data-permission": NEEDS[action] };
  return makeButton(label, onClick, { subject: ` ${subject}`, ...data });
}

function dateText(time: string): string {
  return new Date(time).toLocaleDateString("en-GB", { dateStyle: "long" });
}
