import { statSync } from "node:fs";
import { formatMs, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { quantile } from "../../tools/support/statistics.ts";
import { FACE_COUNTS, type Photos, SIZES, WIDTHS } from "../load/photos.ts";
import type { Chapter } from "../report.ts";
import { type BareCore, openBareCore } from "./bare-core.ts";

/** Images take short turns, so that a slow minute of the machine affects all of them. */
const ROUNDS = 4;
const TURN_SECONDS = 0.8;

/** The reported quantile of the call durations. It is low because other work on the machine only adds time. */
const QUANTILE = 0.1;

/** The cost of one image. */
export interface Cost {
  readonly name: string;
  readonly bytes: number;
  readonly faces: number;
  readonly embedMs: number;
  readonly analyzeMs: number;
}

/** Costs by photo size, by number of faces, and by width of the same photo. */
export interface Costs {
  readonly sizes: readonly Cost[];
  readonly faces: readonly Cost[];
  readonly widths: readonly Cost[];
}

/** Measures the cost of images in one process. Throws if not all faces of a composed image are found. */
export async function measureCosts(photos: Photos): Promise<Costs> {
  const sizes = SIZES.flatMap((size) => [
    createTally(`${size}, one face`, photos.oneFace(size)),
    createTally(`${size}, five faces`, photos.fiveFaces(size)),
  ]);
  const faces = FACE_COUNTS.map((count) => createTally(String(count), photos.composed(count)));
  const widths = WIDTHS.map((width) => createTally(String(width), photos.threeFaces(width)));
  const core = await openBareCore(1);
  try {
    const turns = Array.from({ length: ROUNDS }, () => [...sizes, ...faces, ...widths]).flat();
    await mapWithProgress("costs", turns, (tally) => addTurn(core, tally));
  } finally {
    await core.close();
  }
  const wrong = faces.find((tally) => tally.faces !== Number(tally.name));
  if (wrong) throw new Error(`Found ${wrong.faces} of ${wrong.name} faces in a composed image.`);
  return {
    sizes: sizes.map(costFromTally),
    faces: faces.map(costFromTally),
    widths: widths.map(costFromTally),
  };
}

/** The measurements of one image so far. */
interface Tally {
  readonly name: string;
  readonly image: string;
  faces: number;
  readonly embedMs: number[];
  readonly analyzeMs: number[];
}

function createTally(name: string, image: string): Tally {
  return { name, image, faces: 0, embedMs: [], analyzeMs: [] };
}

async function addTurn(core: BareCore, tally: Tally): Promise<void> {
  const { image } = tally;
  const embedding = await core.run({ call: "embed", image, seconds: TURN_SECONDS });
  const analysis = await core.run({ call: "analyze", image, seconds: TURN_SECONDS });
  tally.faces = embedding.faces;
  tally.embedMs.push(...embedding.callMs);
  tally.analyzeMs.push(...analysis.callMs);
}

function costFromTally({ name, image, faces, embedMs, analyzeMs }: Tally): Cost {
  return {
    name,
    bytes: statSync(image).size,
    faces,
    embedMs: quantile(embedMs, QUANTILE),
    analyzeMs: quantile(analyzeMs, QUANTILE),
  };
}

/** Reports the costs, and how they grow with faces and pixels. */
export function costsChapter({ sizes, faces, widths }: Costs): Chapter {
  const [one, , , twenty, crowd] = faces;
  const embedRatio = twenty!.embedMs / one!.embedMs;
  const perFace = (twenty!.analyzeMs - one!.analyzeMs) / (twenty!.faces - one!.faces);
  // The cost is proportional to the number of pixels to the power of this exponent: 1 if it is linear.
  const exponent = Math.log(widths[2]!.embedMs / widths[0]!.embedMs) / Math.log(16);
  return {
    title: "Cost by image size and number of faces",
    figures: [
      {
        name: "time of embed, 20 faces / one face",
        measured: embedRatio.toFixed(2),
        target: "≤ 1.3",
        isMet: embedRatio <= 1.3,
      },
      {
        name: "time of analyze for each further face",
        measured: formatMs(perFace),
        target: "≤ 15 ms",
        isMet: perFace <= 15,
      },
      {
        name: `time of analyze, ${crowd!.faces} faces`,
        measured: formatMs(crowd!.analyzeMs),
        target: "≤ 3000 ms",
        isMet: crowd!.analyzeMs <= 3000,
      },
      {
        name: "exponent of the cost by number of pixels, above a width of 1024",
        measured: exponent.toFixed(2),
        target: "< 1 (sub-linear)",
        isMet: exponent < 1,
      },
    ],
    body: `Duration of one call of the core in one process: the 10th percentile, because other work on the machine only adds time. \`embed\` is the work of get_face_vec, \`analyze\` that of get_image_attr.

By photo size:

${costTable("photo", sizes)}

By number of faces in an image of 1600x1600; those of the crowd are smaller:

${costTable("faces", faces, false)}

By number of pixels, for the same photo of three faces:

${costTable("width", widths)}`,
  };
}

function costTable(firstColumn: string, costs: readonly Cost[], withFaces = true): string {
  return formatTable(
    [firstColumn, "KiB", ...(withFaces ? ["faces found"] : []), "embed", "analyze"],
    costs.map(({ name, bytes, faces, embedMs, analyzeMs }) => [
      name,
      Math.round(bytes / 1024),
      ...(withFaces ? [faces] : []),
      formatMs(embedMs),
      formatMs(analyzeMs),
    ]),
  );
}
