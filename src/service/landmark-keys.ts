const numbered = (name: string, from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => `${name}${from + i}`);

/** The keys of the 68 landmarks, in the order of their numbers in docs/api.md. */
export const LANDMARK_KEYS: readonly string[] = [
  // Jaw
  ...numbered("face_endpoint_", 0, 7),
  "chin",
  ...numbered("face_endpoint_", 9, 16),
  // Left eyebrow
  "leftEyebrowLeftCorner",
  "leftEyebrowMiddle3",
  "leftEyebrowMiddle2",
  "leftEyebrowMiddle1",
  "leftEyebrowRightCorner",
  // Right eyebrow
  "rightEyebrowLeftCorner",
  "rightEyebrowMiddle3",
  "rightEyebrowMiddle2",
  "rightEyebrowMiddle1",
  "rightEyebrowRightCorner",
  // Nose
  "noseTop1",
  "noseTop2",
  "noseLower1",
  "noseLower2",
  "noseRootLeft",
  "nosePoint1",
  "noseTip",
  "nosePoint3",
  "noseRootRight",
  // Left eye
  "leftEyeLeftCorner",
  "leftEyeTop2",
  "leftEyeTop1",
  "leftEyeRightCorner",
  "leftEyeBottom1",
  "leftEyeBottom2",
  // Right eye
  "rightEyeLeftCorner",
  "rightEyeTop1",
  "rightEyeTop2",
  "rightEyeRightCorner",
  "rightEyeBottom1",
  "rightEyeBottom2",
  // Lips
  "mouthLeft",
  "upperLipPoint1",
  "upperLipPoint2",
  "underLipPoint3",
  "underLipPoint4",
  "upperLipPoint5",
  "mouthRight",
  ...numbered("LowerLipPoint", 4, 8),
  "upperLipPoint6",
  "underLipPoint7",
  "underLipPoint8",
  "upperLipPoint9",
  "upperLipPoint10",
  ...numbered("LowerLipPoint", 1, 3),
];
