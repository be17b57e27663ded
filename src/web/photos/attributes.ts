// What the pages show of how a face appears.

/** An attribute in JSON. The confidence is the probability of its value, 0 to 1. */
interface Attribute {
  readonly confidence: number;
}

/** The attributes of a face in JSON. A response has them if the request asked for them. */
export interface Attributes {
  readonly gender?: Attribute & { readonly value: string };
  readonly age?: Attribute & { readonly minYears: number; readonly maxYears: number };
}

/** What an attribute is called, its value in a few words if the face has it, and what follows the value. */
interface AttributeWords {
  readonly name: string;
  readonly text: (face: Attributes) => string | undefined;
  readonly unit: string;
}

/** The attributes by their names in the API, in the order in which pages show them. */
export const ATTRIBUTES: Readonly<Record<keyof Attributes, AttributeWords>> = {
  // `female` for `GENDER_FEMALE`.
  gender: {
    name: "gender",
    text: ({ gender }) => gender?.value.replace("GENDER_", "").toLowerCase(),
    unit: "",
  },
  age: { name: "age range", text: ({ age }) => age && `${age.minYears}-${age.maxYears}`, unit: " years" },
};
export const ATTRIBUTE_NAMES = Object.keys(ATTRIBUTES) as (keyof Attributes)[];

/** Returns value, unit and confidence of the attributes that a face has, for people. */
export function estimatesOf(face: Attributes) {
  return ATTRIBUTE_NAMES.filter((name) => face[name]).map((name) => ({
    text: ATTRIBUTES[name].text(face)!.replace("-", "–"),
    unit: ATTRIBUTES[name].unit,
    percent: `${Math.floor(100 * face[name]!.confidence)}%`,
  }));
}

/** What to keep in mind about the attributes. */
export const ATTRIBUTES_CAVEAT =
  "Age and gender are estimates from appearance and can be wrong. The range 10–20 means 10 to 19 years. It is the least reliable: most faces of this age get 20–40 or 0–10.";
