import { byId } from "../../site/elements.ts";
import { capitalize } from "../../site/words.ts";
import { ATTRIBUTES_CAVEAT } from "../faces.ts";
import type { Offer } from "../offer.ts";
import type { OperationName } from "../operations.ts";
import type { Store } from "../store.ts";
import { askForUserId } from "../user-id.ts";
import type { Batch, BatchActions } from "./batch-view.ts";

/** What a batch returns of each face. */
interface BatchContent {
  readonly description: string;
  /** Empty for the default. */
  readonly features: readonly string[];
}

const VECTORS: BatchContent = {
  description: "A vector of every face.",
  features: ["FEATURE_EMBEDDING", "FEATURE_QUALITY"],
};

function attributesIn({ has }: Offer): BatchContent {
  const parts = [
    ...(has("landmarks") ? ["landmarks"] : []),
    ...(has("attributes") ? ["age range and gender"] : []),
  ];
  const caveat = has("attributes") ? ` ${ATTRIBUTES_CAVEAT}` : "";
  return {
    description: `${capitalize(parts.join(", ") || "the box")} of every face.${caveat}`,
    features: [],
  };
}

/** Returns a function that adds photos to the batch of the page, and creates it first if there is none. */
export function createBatchOpener(
  store: Store,
  openPhoto: (file: File) => void,
): (files: readonly File[], notes: readonly string[]) => void {
  let batch: Promise<Batch> | undefined;
  // A batch keeps what it returns, also if the user selects another operation meanwhile.
  const actionsFor = (operation: OperationName): BatchActions => {
    const { description, features } =
      operation === "get_face_vec" ? VECTORS : attributesIn(store.state.offer);
    return {
      description,
      settings: () => ({ userId: store.state.userId, mayScale: store.state.mayScale, features }),
      open: (file) => {
        openPhoto(file);
        byId("request", HTMLFormElement).scrollIntoView();
      },
      requireUserId: askForUserId,
      onClosed: () => {
        batch = undefined;
      },
    };
  };
  return (files, notes) => {
    const actions = actionsFor(store.state.operation);
    // Few visitors need it, so it is not part of the first load.
    batch ??= import("./batch-view.ts").then(({ createBatch }) => createBatch(actions));
    batch
      .then((opened) => opened.add(files, notes))
      .catch((error: unknown) => {
        batch = undefined;
        reportError(error);
      });
  };
}
