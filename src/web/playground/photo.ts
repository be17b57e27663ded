import type { Box } from "../photos/geometry.ts";
import type { OpenPhoto } from "../photos/open-photo.ts";
import type { Face } from "./responses.ts";

/** The names of the sample photos. */
export type SampleName = "collins" | "collins-copy" | "hopper";

/** A photo that the user added. */
export interface Photo extends OpenPhoto {
  /** The address of a photo that the service fetches. The page displays a drawing, and the file is empty. */
  readonly url?: string;
  readonly faces: readonly Face[];
  /** Set if it is a sample and not a photo of the user. */
  readonly sample?: SampleName;
  /** The box of the face that requests use, if the user selected one. */
  readonly selectedBox?: Box | undefined;
}

/** A place for a photo: empty, with a photo, or with the reason why a photo was rejected. */
export interface Slot {
  readonly photo?: Photo;
  readonly problem?: string;
}
