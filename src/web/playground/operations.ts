import type { Permission } from "../../permissions.ts";
import type { OperationId } from "../samples/sample-request.ts";

/** The name of an operation of the form. */
export type OperationName = "attributes" | "match" | "embedding";

/** What an operation calls. */
export interface Operation {
  readonly name: OperationName;
  readonly id: OperationId;
  readonly path: string;
  /** The field of each image. */
  readonly images: readonly string[];
  /** What to return of each face. */
  readonly features: readonly string[];
  /** What else to ask for. */
  readonly fields?: Readonly<Record<string, boolean>>;
  /** What it needs. */
  readonly permissions: readonly Permission[];
  /** Label of the button that runs it. */
  readonly action: string;
}

const ANALYZE = { id: "v1AnalyzeImage", path: "v1/images:analyze", images: ["image"] } as const;

/** The operations, in the order of the form. */
export const OPERATIONS: Readonly<Record<OperationName, Operation>> = {
  attributes: {
    ...ANALYZE,
    name: "attributes",
    features: ["FEATURE_ATTRIBUTES", "FEATURE_LANDMARKS", "FEATURE_QUALITY"],
    permissions: ["analyze"],
    action: "Get attributes",
  },
  match: {
    name: "match",
    id: "v1CompareFaces",
    path: "v1/faces:compare",
    images: ["source", "target"],
    features: [],
    fields: { quality: true },
    permissions: ["compare"],
    action: "Match faces",
  },
  embedding: {
    ...ANALYZE,
    name: "embedding",
    features: ["FEATURE_EMBEDDING", "FEATURE_QUALITY"],
    permissions: ["analyze", "embeddings"],
    action: "Get embeddings",
  },
};
