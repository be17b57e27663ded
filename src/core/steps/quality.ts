// How well a face is suited for recognition, by components that are named after ISO/IEC 29794-5.
import { COMPONENT_CURVES } from "./quality-table.ts";

/** The components, in the order of visage.v1.QualityComponent, whose comments describe the measures. */
export const QUALITY_COMPONENTS = [
  "interEyeDistance",
  "illumination",
  "overExposure",
  "sharpness",
  "noise",
  "yaw",
  "pitch",
  "roll",
  "eyesVisible",
  "faceOcclusion",
  "detectionConfidence",
  "crop",
] as const;

export type QualityComponent = (typeof QUALITY_COMPONENTS)[number];

/** A number for each component. */
export type QualityMeasures = Readonly<Record<QualityComponent, number>>;

/**
 * From this value on a face is usable. The 778 unharmed photos on which the curves were fitted have at least 90; a face
 * with covered eyes has about 87.
 */
export const MIN_USABLE_VALUE = 88;

/** One component of the quality of a face. */
export interface ComponentQuality {
  readonly component: QualityComponent;
  readonly measure: number;
  /** How likely the face matches if only this component harms it, 0 to 100. */
  readonly value: number;
}

/** How well a face is suited for recognition. */
export interface Quality {
  /** How likely it matches a good photo of the same person, 0 to 100: the product of the components' values. */
  readonly value: number;
  readonly components: readonly ComponentQuality[];
}

/** The probability that a face matches, as a logistic function of a measure. */
export interface ComponentCurve {
  /** Where the probability is a half. */
  readonly middle: number;
  /** Negative if a larger measure is worse. */
  readonly slope: number;
}

/** Combines the measures: a face matches if no component prevents it. */
export function qualityOf(
  measures: QualityMeasures,
  curves: Readonly<Record<QualityComponent, ComponentCurve>> = COMPONENT_CURVES,
): Quality {
  const components = QUALITY_COMPONENTS.map((component) => {
    const { middle, slope } = curves[component];
    const measure = measures[component];
    return { component, measure, value: 100 / (1 + Math.exp(slope * (middle - measure))) };
  });
  return { value: components.reduce((product, { value }) => (product * value) / 100, 100), components };
}

export function isUsable({ value }: Quality): boolean {
  return value >= MIN_USABLE_VALUE;
}

/** Returns the components that make a face unusable, the worst first; none if it is usable. */
export function failingComponents(quality: Quality): readonly ComponentQuality[] {
  if (isUsable(quality)) return [];
  const [worst, ...others] = quality.components.toSorted((one, other) => one.value - other.value);
  return [worst!, ...others.filter(({ value }) => value < MIN_USABLE_VALUE)];
}
