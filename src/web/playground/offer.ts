import type { Permission } from "../../permissions.ts";
import { ATTRIBUTE_NAMES, ATTRIBUTES } from "../photos/attributes.ts";
import type { Off } from "../site/service-info.ts";
import { capitalize } from "../site/words.ts";
import { OPERATIONS, type OperationName } from "./operations.ts";

/** What the playground offers: what the service has not switched off. */
export interface Offer {
  /** In the order of the form. */
  readonly operations: readonly OperationName[];
  has(permission: Permission): boolean;
  /** Leaves out the features that are switched off. */
  permitted(features: readonly string[]): readonly string[];
}

/** What a feature is called, and what it needs. */
const FEATURES: Readonly<Record<string, { readonly words: string; readonly permission?: Permission }>> = {
  FEATURE_ATTRIBUTES: {
    words: ATTRIBUTE_NAMES.map((name) => ATTRIBUTES[name].name).join(", "),
    permission: "attributes",
  },
  FEATURE_LANDMARKS: { words: "landmarks", permission: "landmarks" },
  FEATURE_QUALITY: { words: "quality" },
  FEATURE_EMBEDDING: { words: "embedding (128 numbers)", permission: "embeddings" },
};

/** Returns what the playground offers. */
export function createOffer({ permissions: off }: Pick<Off, "permissions">): Offer {
  const has = (permission: Permission | undefined) => permission === undefined || !off.includes(permission);
  return {
    operations: Object.values(OPERATIONS)
      .filter(({ permissions }) => permissions.every(has))
      .map(({ name }) => name),
    has,
    permitted: (features) => features.filter((feature) => has(FEATURES[feature]?.permission)),
  };
}

/** Says in a sentence what an operation tells about the photos. */
export function describeOperation(name: OperationName, offer: Offer): string {
  const words = offer.permitted(OPERATIONS[name].features).map((feature) => FEATURES[feature]!.words);
  return words.length > 0 ? `${capitalize(words.join(", "))} of every face.` : "Are these the same person?";
}
