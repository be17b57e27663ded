import type { OperationId } from "../samples/sample-request.ts";

/** The name of an operation, which is also its path. */
export type OperationName = "match_faces" | "get_image_attr" | "get_face_vec" | "compare_faces";

/** How to call an operation. */
export interface Operation {
  readonly name: OperationName;
  readonly id: OperationId;
  /** For each image its field, and the field of the box that selects a face in it. */
  readonly images: readonly { readonly field: string; readonly boxField: string }[];
  readonly hasQuality: boolean;
  /** Label of the button that runs it. */
  readonly action: string;
  /** What it tells about the photos. */
  readonly description: string;
}

const PAIR = [
  { field: "img_1", boxField: "bboxes_1" },
  { field: "img_2", boxField: "bboxes_2" },
];

/** The four operations, in the order of the form. */
export const OPERATIONS: Readonly<Record<OperationName, Operation>> = {
  get_image_attr: {
    name: "get_image_attr",
    id: "getImageAttr",
    images: [{ field: "image_attr", boxField: "bboxes" }],
    hasQuality: false,
    action: "Get attributes",
    description: "Landmarks, age range and gender of every face.",
  },
  match_faces: {
    name: "match_faces",
    id: "matchFaces",
    images: PAIR,
    hasQuality: false,
    action: "Match faces",
    description: "Are these the same person?",
  },
  get_face_vec: {
    name: "get_face_vec",
    id: "getFaceVec",
    images: [{ field: "img", boxField: "bboxes" }],
    hasQuality: true,
    action: "Get vector",
    description: "A face as a vector of 128 numbers.",
  },
  compare_faces: {
    name: "compare_faces",
    id: "compareFaces",
    images: PAIR,
    hasQuality: false,
    action: "Compare faces",
    description: "Deprecated: how likely are these the same person? Use Match.",
  },
};
