import { ATTRIBUTES_CAVEAT } from "../../photos/attributes.ts";
import { byId } from "../../site/elements.ts";
import { openKeyDialog } from "../../site/key-control.ts";
import { describeOperation } from "../offer.ts";
import { OPERATIONS } from "../operations.ts";
import type { State, Store } from "../store.ts";
import type { Batch, BatchActions } from "./batch-view.ts";

/** Returns a function that adds photos to the batch of the page, and creates it first if there is none. */
export function createBatchOpener(
  store: Store,
  openPhoto: (file: File) => void,
): (files: readonly File[], notes: readonly string[]) => void {
  let batch: Promise<Batch> | undefined;
  // A batch keeps what it returns, also if the user selects another operation meanwhile.
  const actionsFor = ({ offer, operation }: State): BatchActions => {
    const name = operation === "embedding" ? operation : "attributes";
    const features = offer.permitted(OPERATIONS[name].features);
    const caveat = features.includes("FEATURE_ATTRIBUTES") ? ` ${ATTRIBUTES_CAVEAT}` : "";
    return {
      description: describeOperation(name, offer) + caveat,
      settings: () => ({ apiKey: store.state.apiKey, mayScale: store.state.mayScale, features }),
      open: (file) => {
        openPhoto(file);
        byId("request", HTMLFormElement).scrollIntoView();
      },
      requireKey: openKeyDialog,
      onClosed: () => {
        batch = undefined;
        store.update({ behindBatch: undefined });
      },
    };
  };
  return (files, notes) => {
    const actions = actionsFor(store.state);
    store.update({ behindBatch: { outcome: store.state.outcome } });
    // Few visitors need it, so it is not part of the first load.
    batch ??= import("./batch-view.ts").then(({ createBatch }) => createBatch(actions));
    batch
      .then((opened) => opened.add(files, notes))
      .catch((error: unknown) => {
        batch = undefined;
        store.update({ behindBatch: undefined });
        reportError(error);
      });
  };
}
