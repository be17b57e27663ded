import { expect, test } from "vitest";
import { LANDMARK_KEYS } from "../../src/service/landmark-keys.ts";

test("there are 68 different landmark keys in the order of the 68-point scheme", () => {
  expect(LANDMARK_KEYS).toHaveLength(68);
  expect(new Set(LANDMARK_KEYS).size).toBe(68);
  // The numbers of some keys in docs/api.md.
  for (const [key, number] of [
    ["chin", 8],
    ["face_endpoint_16", 16],
    ["rightEyebrowLeftCorner", 22],
    ["noseTip", 33],
    ["leftEyeLeftCorner", 36],
    ["rightEyeTop1", 43],
    ["mouthRight", 54],
    ["LowerLipPoint8", 59],
    ["underLipPoint7", 61],
    ["LowerLipPoint3", 67],
  ] as const)
    expect(LANDMARK_KEYS.indexOf(key)).toBe(number);
});
