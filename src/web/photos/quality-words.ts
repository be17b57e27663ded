/** What the service measures of a face beside its embedding. */
export interface Measures {
  readonly quality?: Quality | undefined;
  readonly pose?: Pose | undefined;
}

/** The orientation of a head in degrees. */
export interface Pose {
  readonly yaw: number;
  readonly pitch: number;
  readonly roll: number;
}

/** Whether a face is suited for recognition. */
export interface Quality {
  /** The shorter side of the box in pixels. */
  readonly size: number;
  readonly brightness: number;
  /** Such as `QUALITY_ISSUE_BLURRED`. */
  readonly issues: readonly string[];
  readonly usable: boolean;
  /** How likely the face matches a good photo of the same person, in percent. */
  readonly value: number;
  readonly components: readonly QualityComponent[];
}

/** What the quality is the product of. */
export interface QualityComponent {
  /** Such as `QUALITY_COMPONENT_SHARPNESS`. */
  readonly component: string;
  /** In percent. */
  readonly value: number;
  readonly measure: number;
}

/** What a component is called, what is wrong if its value is low, and the unit of its measure. */
interface ComponentWords {
  readonly name: string;
  readonly fault: string;
  readonly unit?: "px" | "°" | "%";
}

/** The components by the names of the API, without their prefix. */
const COMPONENTS: Readonly<Record<string, ComponentWords>> = {
  INTER_EYE_DISTANCE: { name: "Distance of the eyes", fault: "small", unit: "px" },
  ILLUMINATION: { name: "Light (0 to 255)", fault: "dark" },
  OVER_EXPOSURE: { name: "White pixels", fault: "overexposed", unit: "%" },
  SHARPNESS: { name: "Sharpness", fault: "blurred" },
  NOISE: { name: "Noise", fault: "grainy" },
  YAW: { name: "Turned to the side", fault: "turned to the side", unit: "°" },
  PITCH: { name: "Turned up or down", fault: "turned up or down", unit: "°" },
  ROLL: { name: "Tilted", fault: "tilted", unit: "°" },
  EYES_VISIBLE: { name: "Contrast at the eyes", fault: "covered at the eyes" },
  FACE_OCCLUSION: { name: "Disagreement of two networks", fault: "covered or unclear" },
  DETECTION_CONFIDENCE: { name: "Detection", fault: "hard to tell from what is no face", unit: "%" },
  CROP: { name: "Within the photo", fault: "cut off", unit: "%" },
};

/** A component below this is named as a fault of a face that is not usable. The service has the same limit. */
const FAULT = 88;
/** A component below this is named as a small fault of a usable face. */
const SMALL_FAULT = 96;

/** Says whether a face is good for recognition, and what is wrong with it, the worst first. */
export function qualityText({ usable, components }: Quality): string {
  const lowest = Math.min(...components.map(({ value }) => value));
  const limit = usable ? SMALL_FAULT : Math.max(FAULT, lowest + 1);
  const faults = components
    .filter(({ value }) => value < limit)
    .toSorted((one, other) => one.value - other.value)
    .map((component) => wordsOf(component).fault);
  const listed = [...new Set(faults)].join(", ");
  if (!usable) return `Not good for recognition: ${listed}`;
  return listed ? `Good for recognition, a little ${listed}` : "Good for recognition";
}

/** The name of a component, and its measure with the unit. */
export function componentText(component: QualityComponent): readonly [name: string, measure: string] {
  const { name, unit } = wordsOf(component);
  const { measure } = component;
  if (unit === "%") return [name, `${Math.round(100 * measure)}%`];
  if (unit === "°") return [name, `${Math.round(measure)}°`];
  return [name, unit ? `${Math.round(measure)} ${unit}` : measure.toFixed(measure < 10 ? 2 : 0)];
}

function wordsOf({ component }: QualityComponent): ComponentWords {
  const name = component.replace("QUALITY_COMPONENT_", "");
  return COMPONENTS[name] ?? { name, fault: name };
}

/** Angles from which they are worth a word. */
const TURNED_DEGREES = 20;
const ON_ITS_SIDE_DEGREES = 45;
const UPSIDE_DOWN_DEGREES = 135;

/** Says how the head is turned; empty if it looks at the camera. */
export function poseText({ yaw, pitch, roll }: Pose): string {
  const tilt = Math.abs(roll);
  const texts = [
    ...(tilt >= UPSIDE_DOWN_DEGREES ? ["upside down: was turned upright"] : []),
    ...(tilt >= ON_ITS_SIDE_DEGREES && tilt < UPSIDE_DOWN_DEGREES ? ["on its side: was turned upright"] : []),
    ...(Math.abs(yaw) >= TURNED_DEGREES ? [`looks to the ${yaw > 0 ? "right" : "left"} of the photo`] : []),
    ...(Math.abs(pitch) >= TURNED_DEGREES ? [`looks ${pitch > 0 ? "up" : "down"}`] : []),
  ];
  return texts.join(", ");
}
