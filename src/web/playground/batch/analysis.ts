import type { Box, Scale, Size } from "../../photos/geometry.ts";

/** A face of `AnalyzeImageResponse`. JSON omits fields with the value zero, and those that were not asked for. */
export interface AnalyzedFace {
  readonly box: Partial<Box>;
  readonly detectionScore?: number;
  readonly landmarks?: readonly { readonly x?: number; readonly y?: number }[];
  readonly pose?: { readonly yaw?: number; readonly pitch?: number; readonly roll?: number };
  readonly quality?: {
    readonly size?: number;
    readonly brightness?: number;
    readonly issues?: readonly string[];
    readonly usable?: boolean;
  };
  readonly age?: { readonly minYears?: number; readonly maxYears?: number; readonly confidence?: number };
  readonly gender?: { readonly value: string; readonly confidence?: number };
  readonly embedding?: { readonly values: readonly number[]; readonly model: string };
}

/** The response of `POST /v1/images:analyze`. */
export interface Analysis {
  readonly imageSize: Size;
  readonly faces?: readonly AnalyzedFace[];
  readonly facesFound?: number;
}

/** Converts the positions of an analysis from pixels of the sent photo to pixels of the original. */
export function scaleAnalysis(analysis: Analysis, scale: Scale): Analysis {
  if (scale.x === 1 && scale.y === 1) return analysis;
  const { imageSize } = analysis;
  const toX = (x = 0) => round(x * scale.x);
  const toY = (y = 0) => round(y * scale.y);
  const faces = analysis.faces?.map((face) => ({
    ...face,
    box: { x1: toX(face.box.x1), y1: toY(face.box.y1), x2: toX(face.box.x2), y2: toY(face.box.y2) },
    ...(face.landmarks && { landmarks: face.landmarks.map(({ x, y }) => ({ x: toX(x), y: toY(y) })) }),
    ...(face.quality && {
      quality: { ...face.quality, size: Math.floor((face.quality.size ?? 0) * Math.min(scale.x, scale.y)) },
    }),
  }));
  return {
    ...analysis,
    imageSize: {
      width: Math.round(imageSize.width * scale.x),
      height: Math.round(imageSize.height * scale.y),
    },
    ...(faces && { faces }),
  };
}

/** Positions have one decimal, like those of the service. */
function round(position: number): number {
  return Math.round(position * 10) / 10;
}

/** The words of a gender: `female` for `GENDER_FEMALE`. */
export function genderText({ gender }: AnalyzedFace): string | undefined {
  return gender?.value.replace("GENDER_", "").toLowerCase();
}

/** The years of an age, such as `20-40`. */
export function ageText({ age }: AnalyzedFace): string | undefined {
  return age && `${age.minYears ?? 0}-${age.maxYears ?? 0}`;
}
