import type { OperationId, SampleRequest } from "../samples/sample-request.ts";
import type { OperationName } from "./operations.ts";
import type { FaceRequest, RequestImage } from "./request.ts";

const OPERATION_IDS: Readonly<Record<OperationName, OperationId>> = {
  match_faces: "matchFaces",
  get_image_attr: "getImageAttr",
  get_face_vec: "getFaceVec",
  compare_faces: "compareFaces",
};

/** Describes a request for the code samples. Like the page, it asks for the detail if the language allows it. */
export function codeRequest({ operation, images, detect, quality }: FaceRequest): SampleRequest {
  return {
    operation: OPERATION_IDS[operation.name],
    images: images.map((image) => ({
      field: image.field,
      file: fileName(image),
      url: image.photo?.url,
      ...(image.box && { boxes: [image.box] }),
    })),
    fields: { ...(detect ? {} : { face_det: false }), ...(quality && { quality: true }), detail: true },
  };
}

/** A photo that the browser converts must be a JPEG for other programs. */
function fileName({ photo, slot }: RequestImage): string {
  if (!photo) return `photo-${slot + 1}.jpg`;
  return photo.isAccepted ? photo.name : photo.name.replace(/(\.\w+)?$/, ".jpg");
}
