import { byId } from "../../site/elements.ts";
import type { Store } from "../store.ts";
import { askForUserId } from "../user-id.ts";
import type { Batch, BatchActions } from "./batch-view.ts";

/** What a batch asks for beyond the default if the operation of the form returns vectors. */
const VECTOR_FEATURES = ["FEATURE_EMBEDDING", "FEATURE_QUALITY"];

/** Returns a function that adds photos to the batch of the page, and creates it first if there is none. */
export function createBatchOpener(
  store: Store,
  openPhoto: (file: File) => void,
): (files: readonly File[]) => void {
  let batch: Promise<Batch> | undefined;
  const actions: BatchActions = {
    settings: () => {
      const { userId, mayScale, operation } = store.state;
      return { userId, mayScale, features: operation === "get_face_vec" ? VECTOR_FEATURES : [] };
    },
    open: (file) => {
      openPhoto(file);
      byId("request", HTMLFormElement).scrollIntoView();
    },
    requireUserId: askForUserId,
    onClosed: () => {
      batch = undefined;
    },
  };
  return (files) => {
    // Few visitors need it, so it is not part of the first load.
    batch ??= import("./batch-view.ts").then(({ createBatch }) => createBatch(actions));
    batch
      .then((opened) => opened.add(files))
      .catch((error: unknown) => {
        batch = undefined;
        reportError(error);
      });
  };
}
