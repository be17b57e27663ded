/** Left, top, right, bottom in pixels of the upright photo. */
export type Rectangle = readonly [x1: number, y1: number, x2: number, y2: number];

/** A place in pixels of the upright photo. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** What every answer looks like. */
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

/** What `detail=1` tells of a face. */
export interface FaceDetail {
  readonly face_rectangle: Rectangle;
  readonly face_size: readonly [width: number, height: number];
  readonly light: number;
  readonly yaw: number;
}

/** One entry `face_id_n`. */
export interface FaceEntry {
  readonly age: string;
  readonly gender: string;
  readonly gender_confidence: number;
  readonly face_rectangle: Rectangle;
  readonly landmarks: { readonly faceLandMark: Readonly<Record<string, Point>> };
}

/** The data of each operation, as far as the page shows it; only an operation's own fields are there. */
export interface AnswerData {
  readonly score?: string;
  readonly status?: string;
  readonly confidence?: string;
  readonly vector?: readonly number[];
  /** Faces by `face_id_n`, and beside them `image_size`. */
  readonly attributes?: Readonly<Record<string, FaceEntry>>;
  readonly detail: Detail;
}
