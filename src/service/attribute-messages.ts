// Conversion of the attributes of a face to fields of visage.v1.Face, and back.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { AgeRange, type Face, type FaceSchema, Gender } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { Attributes, AgeRange as CoreAgeRange } from "../core/index.ts";

const AGE_RANGES: Readonly<Record<CoreAgeRange, AgeRange>> = {
  "0-10": AgeRange.FROM_0_TO_10,
  "10-20": AgeRange.FROM_10_TO_20,
  "20-40": AgeRange.FROM_20_TO_40,
  "40-60": AgeRange.FROM_40_TO_60,
  "60-100": AgeRange.FROM_60_TO_100,
};

const GENDERS: Readonly<Record<Attributes["gender"], Gender>> = {
  female: Gender.FEMALE,
  male: Gender.MALE,
};

/** Converts attributes. Numbers are rounded to single precision, as all of typed-messages.ts. */
export function messagesFromAttributes({ age, ageConfidence, gender, genderConfidence }: Attributes) {
  const [minYears, maxYears] = age.split("-").map(Number) as [number, number];
  return {
    age: { range: AGE_RANGES[age], minYears, maxYears, confidence: Math.fround(ageConfidence) },
    gender: { value: GENDERS[gender], confidence: Math.fround(genderConfidence) },
  } satisfies MessageInitShape<typeof FaceSchema>;
}

/** Reads the attributes of a face; undefined if the request did not ask for them. */
export function attributesFromMessages({ age, gender }: Face): Attributes | undefined {
  if (!age || !gender) return undefined;
  return {
    age: `${age.minYears}-${age.maxYears}` as CoreAgeRange,
    ageConfidence: age.confidence,
    gender: gender.value === Gender.FEMALE ? "female" : "male",
    genderConfidence: gender.confidence,
  };
}
