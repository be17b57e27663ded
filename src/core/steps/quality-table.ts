// Written by `npm run fit:quality`.
import type { ComponentCurve, QualityComponent } from "./quality.ts";

/** The probability that a face matches another photo of the person, by each component. */
export const COMPONENT_CURVES: Readonly<Record<QualityComponent, ComponentCurve>> = {
  interEyeDistance: { middle: -94.8, slope: 0.0459 },
  illumination: { middle: -335, slope: 0.0131 },
  overExposure: { middle: 0.788, slope: -8.07 },
  sharpness: { middle: 0.354, slope: 30 },
  noise: { middle: 1.1, slope: -11 },
  yaw: { middle: 95.9, slope: -0.0712 },
  pitch: { middle: 62.4, slope: -0.108 },
  roll: { middle: 768, slope: -0.00823 },
  eyesVisible: { middle: -0.184, slope: 8.9 },
  faceOcclusion: { middle: 0.393, slope: -14 },
  detectionConfidence: { middle: 0.234, slope: 8.72 },
  crop: { middle: 0.335, slope: 8.95 },
};
