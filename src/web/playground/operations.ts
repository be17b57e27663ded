/** An operation by the name of its path. */
export type OperationName = "match_faces" | "get_image_attr" | "get_face_vec" | "compare_faces";

/** How an operation is asked for. */
export interface Operation {
  readonly name: OperationName;
  readonly rpc: string;
  /** The field of each image, and the one of the box that selects a face in it. */
  readonly images: readonly { readonly field: string; readonly box: string }[];
  readonly hasQuality: boolean;
  /** What the button says. */
  readonly action: string;
}

const PAIR = [
  { field: "img_1", box: "bboxes_1" },
  { field: "img_2", box: "bboxes_2" },
];

/** The four operations. */
export const OPERATIONS: Readonly<Record<OperationName, Operation>> = {
  match_faces: {
    name: "match_faces",
    rpc: "MatchFaces",
    images: PAIR,
    hasQuality: false,
    action: "Match faces",
  },
  get_image_attr: {
    name: "get_image_attr",
    rpc: "GetImageAttr",
    images: [{ field: "image_attr", box: "bboxes" }],
    hasQuality: false,
    action: "Read attributes",
  },
  get_face_vec: {
    name: "get_face_vec",
    rpc: "GetFaceVec",
    images: [{ field: "img", box: "bboxes" }],
    hasQuality: true,
    action: "Make vector",
  },
  compare_faces: {
    name: "compare_faces",
    rpc: "CompareFaces",
    images: PAIR,
    hasQuality: false,
    action: "Compare faces",
  },
};
