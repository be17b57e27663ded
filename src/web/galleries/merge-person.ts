import { make } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import { openAction } from "./action-dialog.ts";
import { deletePerson, exportPerson, getPerson, importFaces, type Person } from "./gallery-api.ts";
import { findPeople, fullNameOf, nameOf } from "./people-list.ts";
import type { PeopleContext } from "./person-row.ts";

/** How many people the choice shows at once; the search finds the others. */
const MAX_CHOICES = 50;

/** Asks with whom to merge a person, then whether to do so. */
export function askToMerge(source: Person, context: PeopleContext): void {
  const others = context.people.filter(({ personId }) => personId !== source.personId);
  const search = make("input", { type: "search", autocomplete: "off", "aria-label": "Search by name or id" });
  const choice = make("select", { size: 6, required: true, "aria-label": "The same person" });
  const draw = () => {
    const found = findPeople(others, search.value).slice(0, MAX_CHOICES);
    const options = found.map((person) =>
      make(
        "option",
        { value: person.personId },
        `${fullNameOf(person)}, ${plural(person.faces.length, "face")}`,
      ),
    );
    choice.replaceChildren(...options);
  };
  search.addEventListener("input", draw);
  draw();
  const text = `Who is the same person as ${fullNameOf(source)}?`;
  const next = () => confirm(source, others.find(({ personId }) => personId === choice.value)!, context);
  openAction(
    {
      title: `Merge ${nameOf(source)}`,
      content: [make("p", {}, text), search, choice],
      submit: { label: "Continue", run: async () => {}, onDone: next },
    },
    context.onFailure,
  );
}

function confirm(source: Person, target: Person, context: PeopleContext): void {
  const ids = [source.personId, target.personId];
  const run = async () => {
    try {
      await merge(source, target, context);
    } catch (error) {
      // The other person may have the faces already.
      context.onChanged(ids);
      throw error;
    }
  };
  const texts = [
    `The other person gets ${plural(source.faces.length, "face")} of ${fullNameOf(source)}, who is then deleted from this gallery. This cannot be undone.`,
    `${fullNameOf(target)} keeps the name, the id and the date of deletion.`,
    "If the merge fails, no face is lost, and you can repeat it.",
  ];
  const done = `${fullNameOf(source)} is merged into ${fullNameOf(target)}.`;
  openAction(
    {
      title: `Merge ${nameOf(source)} into ${nameOf(target)}?`,
      content: texts.map((text) => make("p", {}, text)),
      submit: {
        label: "Merge",
        isDestructive: true,
        run,
        onDone: () => context.onChanged(ids, { text: done }),
      },
    },
    context.onFailure,
  );
}

/** Gives the faces of a person to another one, and then deletes the person. Can be repeated after a failure. */
async function merge(source: Person, target: Person, { galleryId, crops }: PeopleContext): Promise<void> {
  // Somebody who was deleted meanwhile must not come back.
  await getPerson(galleryId, target.personId);
  const exported = await exportPerson(galleryId, source.personId);
  const { faces } = JSON.parse(await exported.text()) as {
    readonly faces: readonly { embedding: unknown }[];
  };
  // Without the ids of the faces, which the other person may have, too. The service derives them from the templates.
  const lines = faces.map(({ embedding }) => `${JSON.stringify({ personId: target.personId, embedding })}\n`);
  await importFaces(galleryId, new Blob(lines));
  await deletePerson(galleryId, source.personId);
  for (const { faceId } of source.faces) {
    const crop = crops.get(galleryId, source.personId, faceId, "");
    if (crop) crops.add(galleryId, target.personId, faceId, crop);
  }
}
