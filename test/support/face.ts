import { FaceSchema } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { Attributes, Face } from "../../src/core/index.ts";

/** The attributes of a face, as the core returns them. */
export const ATTRIBUTES: Attributes = {
  age: "20-40",
  ageConfidence: 0.8,
  gender: "female",
  genderConfidence: 0.98765,
};

/** A face with all that an analysis measures by default. */
export const FACE: Face = {
  box: { x1: 10.4, y1: 20.6, x2: 30, y2: 40 },
  score: 0.912345,
  presence: 1,
  prominence: 0.1,
  pose: { yawDegrees: -10.55549, pitchDegrees: 2, rollDegrees: 0.5 },
  light: 120.123456,
  ...ATTRIBUTES,
  landmarks: [{ x: 1.4, y: 2.6 }],
};

/** The fields of visage.v1.Face that are no attributes. */
const OTHER_FIELDS = [
  ...["box", "detectionScore", "presence", "prominence"],
  ...["landmarks", "pose", "quality", "embedding"],
];

/** The fields of visage.v1.Face that are attributes. */
export const ATTRIBUTE_FIELDS = FaceSchema.fields
  .map(({ localName }) => localName)
  .filter((name) => !OTHER_FIELDS.includes(name));
