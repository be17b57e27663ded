import { saveFile, saveText } from "../site/download.ts";
import { actionRow, make, makeButton } from "../site/elements.ts";
import { fetchOff } from "../site/service-info.ts";
import { plural } from "../site/words.ts";
import { openAction, openNameDialog } from "./action-dialog.ts";
import {
  ALL_GALLERIES,
  deletePerson,
  exportPerson,
  type Person,
  type Receipt,
  renamePerson,
} from "./gallery-api.ts";
import { askToMerge } from "./merge-person.ts";
import { nameOf } from "./people-list.ts";
import type { PeopleContext } from "./person-row.ts";

type Open = (person: Person, context: PeopleContext) => void;

/** Opens the dialog that renames a person, and leads to everything else that can be done to one. */
export async function editPerson(person: Person, context: PeopleContext): Promise<void> {
  const { permissions: off } = await fetchOff();
  const { personId, displayName } = person;
  const { galleryId, people, onChanged, onFailure } = context;
  const allows = (...needed: readonly (typeof off)[number][]) => !needed.some((one) => off.includes(one));
  const button = (label: string, open: Open) =>
    makeButton(label, () => {
      dialog.close();
      open(person, context);
    });
  const mayMerge = people.length > 1 && allows("enrol", "export", "delete");
  const buttons = [
    ...(mayMerge ? [button("Merge…", askToMerge)] : []),
    ...(allows("export") ? [button("Export…", askToExport)] : []),
    ...(allows("delete") ? [button("Delete…", askToDelete)] : []),
  ];
  const title = `Edit ${nameOf(person)}`;
  const id = make("p", { class: "hint" }, "Id ", make("code", {}, personId));
  const more = [id, actionRow(...buttons)];
  const dialog = allows("enrol")
    ? openNameDialog(
        {
          title,
          name: displayName,
          more,
          save: (name) => renamePerson(galleryId, personId, name),
          onSaved: () => onChanged([personId], { text: "The name is saved." }),
        },
        onFailure,
      )
    : openAction({ title, content: more }, onFailure);
}

function askToExport(person: Person, { galleryId, onChanged, onFailure }: PeopleContext): void {
  const scope = drawScope(person, galleryId);
  const text = "The file has the templates of this person. They are biometric data: protect the file.";
  const submit = {
    label: "Export",
    run: async () => saveFile(await exportPerson(scope.read(), person.personId), `${person.personId}.jsonl`),
    onDone: () => onChanged([], { text: `${nameOf(person)} is exported.` }),
  };
  const title = `Export ${nameOf(person)}`;
  openAction({ title, content: [make("p", {}, text), scope.element], submit }, onFailure);
}

function askToDelete(person: Person, { galleryId, onChanged, onFailure }: PeopleContext): void {
  const scope = drawScope(person, galleryId);
  let receipt: Receipt | undefined;
  const submit = {
    label: "Delete person",
    isDestructive: true,
    run: async () => {
      receipt = await deletePerson(scope.read(), person.personId);
    },
    onDone: () => onChanged([person.personId], deletionOutcome(person, receipt!)),
  };
  const text = "All templates of this person will be erased. This cannot be undone.";
  const title = `Delete ${nameOf(person)}?`;
  openAction({ title, content: [make("p", {}, text), scope.element], submit }, onFailure);
}

function deletionOutcome(person: Person, receipt: Receipt) {
  const { deletions, erasureFinished } = receipt;
  const faces = deletions.reduce((sum, { faceCount }) => sum + faceCount, 0);
  const from = deletions.length === 1 ? "1 gallery" : `${deletions.length} galleries`;
  const rest = erasureFinished ? "" : " The erasure goes on.";
  const save = () => {
    const text = `${JSON.stringify(receipt, undefined, 2)}\n`;
    saveText(text, `${person.personId}-receipt.json`, "application/json");
  };
  return {
    text: `${nameOf(person)} is deleted from ${from}, with ${plural(faces, "template")}.${rest}`,
    offer: { label: "Save the receipt", save },
  };
}

/** Draws the choice between this gallery and all of the user. */
function drawScope({ personId }: Person, galleryId: string) {
  const radio = (value: string, label: string, isChecked: boolean, note: string) =>
    make(
      "label",
      {},
      make("input", { type: "radio", name: "scope", value, checked: isChecked }),
      make("span", {}, label, make("small", {}, note)),
    );
  const element = make(
    "fieldset",
    { class: "options" },
    make("legend", { class: "visually-hidden" }, "From"),
    radio(galleryId, "From this gallery", true, galleryId),
    radio(ALL_GALLERIES, "From all my galleries", false, `Everyone with the id ${personId}`),
  );
  return {
    element,
    /** Returns the id of the gallery, or what stands for all. */
    read: () => element.querySelector<HTMLInputElement>("input:checked")!.value,
  };
}
