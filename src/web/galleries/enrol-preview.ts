import { openDialog } from "../site/dialog.ts";
import { make } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import type { FolderPlan } from "./enrol-folders.ts";

/** More people than this are only counted. */
const MAX_LISTED = 200;

/** Shows whom the folders would enrol, before anything is sent. */
export function openPreview({ people, skipped }: FolderPlan, onStart: () => void): void {
  const photoCount = people.reduce((sum, { photos }) => sum + photos.length, 0);
  const rows = people.slice(0, MAX_LISTED).map(({ displayName, personId, photos, faceIds }) => {
    const known = faceIds.size > 0 ? `, added to ${plural(faceIds.size, "face")}` : ", new";
    return make(
      "li",
      {},
      make("strong", {}, displayName || personId),
      ` ${plural(photos.length, "photo")}${known}`,
    );
  });
  const rest = people.length - rows.length;
  openDialog({
    title: `Enrol ${people.length === 1 ? "1 person" : `${people.length.toLocaleString("en")} people`}?`,
    content: [
      make("p", {}, "Each folder is one person. Nothing has been sent yet."),
      make("ul", { class: "plain-list preview" }, ...rows),
      ...(rest > 0 ? [make("p", {}, `And ${rest.toLocaleString("en")} more.`)] : []),
      ...(skipped.length > 0 ? [make("p", { class: "notice" }, `Skipped: ${skipped.join(" ")}`)] : []),
    ],
    ...(photoCount > 0 && {
      submit: { label: `Enrol ${plural(photoCount, "photo")}`, run: async () => {}, onDone: onStart },
    }),
  });
}
