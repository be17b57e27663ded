import { saveFile, saveText } from "../site/download.ts";
import { byId, make, makeButton } from "../site/elements.ts";
import { facesFrom, isSameFace } from "./faces.ts";
import type { Photo } from "./photo.ts";
import { isComparison } from "./responses.ts";
import type { Outcome, Success } from "./send.ts";
import type { Store } from "./store.ts";

interface Download {
  readonly label: string;
  save(): unknown;
}

/** Offers the result of a request as files: the response, the embeddings, and each photo with its faces. */
export function mountDownloads(store: Store): void {
  const bar = byId("downloads", HTMLDivElement);
  let drawn: Outcome | undefined;
  store.subscribe(({ outcome }) => {
    if (outcome === drawn) return;
    drawn = outcome;
    bar.hidden = !outcome?.isSuccess;
    const buttons = (outcome?.isSuccess ? downloadsOf(store, outcome) : []).map(({ label, save }) =>
      makeButton(label, save, { "aria-label": `Download ${label}` }),
    );
    bar.replaceChildren(make("span", { class: "hint" }, "Download"), ...buttons);
  });
}

function downloadsOf(store: Store, { request, response }: Success): Download[] {
  const name = baseName(request.images[0]?.photo);
  const saveJson = (value: unknown, file: string) =>
    saveText(JSON.stringify(value, null, 2), file, "application/json");
  const json = { label: "JSON", save: () => saveJson(response, `${name}-${request.operation.name}.json`) };
  const embeddings = isComparison(response)
    ? []
    : response.faces.flatMap(({ box, embedding }) => (embedding ? [{ box, ...embedding }] : []));
  const embeddingFile = {
    label: "Embeddings",
    save: () => saveJson(embeddings, `${name}-embeddings.json`),
  };
  const pictures = request.images.flatMap(({ slot, photo }, i) => {
    const suffix = request.images.length > 1 ? ` ${i + 1}` : "";
    return facesFrom(response)[i]?.length && !photo?.url ? pictureDownloads(store, slot, suffix) : [];
  });
  return [json, ...(embeddings.length > 0 ? [embeddingFile] : []), ...pictures];
}

/** The photo of a slot with its faces as they are marked on the page, and the selected or first face of it. */
function pictureDownloads(store: Store, slot: number, suffix: string): Download[] {
  const save =
    (draw: (photo: Photo) => Promise<{ readonly picture: Blob; readonly name: string }>) => async () => {
      const photo = store.state.slots[slot]?.photo;
      if (!photo) return;
      const { picture, name } = await draw(photo);
      saveFile(picture, name);
    };
  return [
    {
      label: `Annotated photo${suffix}`,
      save: save(async (photo) => {
        const { drawAnnotated } = await import("./annotated-picture.ts");
        const picture = await drawAnnotated(photo, photo.faces, store.state.hasLandmarks);
        return { picture, name: `${baseName(photo)}-annotated.jpg` };
      }),
    },
    {
      label: `Face crop${suffix}`,
      save: save(async (photo) => {
        const { cropFace } = await import("./annotated-picture.ts");
        const { faces, selectedBox } = photo;
        const index = Math.max(
          0,
          faces.findIndex(({ box }) => isSameFace(selectedBox, box)),
        );
        const picture = await cropFace(photo, faces[index]!.box);
        return { picture, name: `${baseName(photo)}-face-${index + 1}.jpg` };
      }),
    },
  ];
}

function baseName(photo: Photo | undefined): string {
  return (photo?.name ?? "photo").replace(/\.\w+$/, "");
}
