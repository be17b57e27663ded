// Written by `npm run fit:quality`.

/** The probability that a face matches another photo of the person, by each component. */
export const COMPONENT_CURVES = {
  interEyeDistance: { middle: -89.8, slope: 0.0483 },
  illumination: { middle: -521, slope: 0.00973 },
  overExposure: { middle: 0.806, slope: -8.13 },
  sharpness: { middle: 0.356, slope: 27.8 },
  noise: { middle: 1.11, slope: -11 },
  yaw: { middle: 103, slope: -0.0674 },
  pitch: { middle: 77, slope: -0.0886 },
  roll: { middle: 773, slope: -0.00832 },
  eyesVisible: { middle: -0.307, slope: 6.8 },
  faceOcclusion: { middle: 0.563, slope: -12.8 },
  detectionConfidence: { middle: 0.366, slope: 10.5 },
  crop: { middle: -0.302, slope: 4.82 },
};
