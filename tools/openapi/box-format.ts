import type { RequestFormat } from "./api-metadata.ts";
import { EXAMPLE_BOX } from "./examples.ts";

const NUMBER = " *-?[0-9]{1,9}(\\.[0-9]+)? *";

/** The text of a bounding box. */
export const BOX_FORMAT: RequestFormat = {
  // Empty text means that there is no box.
  text: { type: "string", pattern: `^ *(${NUMBER}(,${NUMBER}){3})?$` },
  // Tools that fill in an example take the first one, and no other box is valid for every image.
  examples: [
    { name: "none", summary: "No box", value: "" },
    { name: "face", summary: "The face in the example images", value: EXAMPLE_BOX },
  ],
};
