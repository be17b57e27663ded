import type { Box } from "../photos/geometry.ts";
import type { SampleRequest } from "../samples/sample-request.ts";
import type { Operation } from "./operations.ts";
import { cornersOf } from "./positions.ts";

/** What the code needs of a request. */
interface CodedRequest {
  readonly operation: Operation;
  readonly images: readonly CodedImage[];
  readonly features: readonly string[];
}

interface CodedImage {
  readonly slot: number;
  readonly field: string;
  readonly photo?: { readonly name: string; readonly isAccepted: boolean; readonly url?: string } | undefined;
  readonly box?: Box | undefined;
}

/** Describes a request of the form for the code, as the page sends it. */
export function codeRequest({ operation, images, features }: CodedRequest): SampleRequest {
  return {
    operation: operation.id,
    images: images.map((image) => ({
      field: image.field,
      file: fileName(image),
      url: image.photo?.url,
      ...(image.box && { boxes: [cornersOf(image.box)] }),
    })),
    fields: { ...operation.fields, ...(features.length > 0 && { features }) },
  };
}

/** A photo that the browser converts must be a JPEG for other programs. */
function fileName({ photo, slot }: CodedImage): string {
  if (!photo) return `photo-${slot + 1}.jpg`;
  return photo.isAccepted ? photo.name : photo.name.replace(/(\.\w+)?$/, ".jpg");
}
