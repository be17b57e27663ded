/** Left, top, right, bottom, in pixels of the upright photo. */
export type Rectangle = readonly [x1: number, y1: number, x2: number, y2: number];

/** A position in pixels of the upright photo. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The envelope of every response. */
export interface Envelope<Data> {
  readonly status: string;
  readonly code: string;
  readonly success: boolean;
  readonly message: string;
  readonly data: Data;
}

/** What `detail=1` adds to the data. */
export interface Detail {
  readonly images: readonly { readonly faces_found: number; readonly faces: readonly FaceDetail[] }[];
  readonly model: string;
  readonly milliseconds: Readonly<Record<string, number>>;
}

/** What `detail=1` reports about one face. */
export interface FaceDetail {
  readonly face_rectangle: Rectangle;
  readonly face_size: readonly [width: number, height: number];
  readonly light: number;
  readonly yaw: number;
}

/** One `face_id_<n>` entry of the attributes. */
export interface FaceEntry {
  readonly age: string;
  readonly gender: string;
  readonly gender_confidence: number;
  readonly face_rectangle: Rectangle;
  readonly landmarks: { readonly faceLandMark: Readonly<Record<string, Point>> };
}

/** The data of a response. Each operation sets only its own fields, and the page always asks for the detail. */
export interface ResponseData {
  readonly score?: string;
  readonly status?: string;
  readonly confidence?: string;
  readonly vector?: readonly number[];
  /** The `face_id_<n>` entries, with `image_size` among them. */
  readonly attributes?: Readonly<Record<string, FaceEntry>>;
  readonly detail: Detail;
}
