import { statSync } from "node:fs";
import { formatMs, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { quantile } from "../../tools/support/statistics.ts";
import { FACE_COUNTS, type Photos, SIZES, WIDTHS } from "../load/photos.ts";
import type { Chapter } from "../report.ts";
import { type BareCore, openBareCore } from "./bare-core.ts";
import { SECONDS } from "./pace.ts";

/** Images take short turns, so that a slow minute of the machine hits all of them. */
const ROUNDS = 4;
const TURN_SECONDS = SECONDS / 5;

/** The share of calls whose slowest counts: other work on the machine only ever adds to a time. */
const FASTEST = 0.1;

/** What one image costs the core. */
export interface Cost {
  readonly name: string;
  readonly bytes: number;
  readonly faces: number;
  readonly embedMs: number;
  readonly analyzeMs: number;
}

/** Costs of the photographs by size, of pictures by their number of faces, of one photograph by its width. */
export interface Costs {
  readonly sizes: readonly Cost[];
  readonly faces: readonly Cost[];
  readonly widths: readonly Cost[];
}

/** Measures what images cost one process of the core; throws if a composed picture has not the faces put in it. */
export async function measureCosts(photos: Photos): Promise<Costs> {
  const sizes = SIZES.flatMap((size) => [
    tallyOf(`${size}, one`, photos.one(size)),
    tallyOf(`${size}, many`, photos.many(size)),
  ]);
  const faces = FACE_COUNTS.map((count) => tallyOf(String(count), photos.faces(count)));
  const widths = WIDTHS.map((width) => tallyOf(String(width), photos.wide(width)));
  const core = await openBareCore(1);
  try {
    const turns = Array.from({ length: ROUNDS }, () => [...sizes, ...faces, ...widths]).flat();
    await mapWithProgress("costs", turns, (tally) => addTurn(core, tally));
  } finally {
    await core.close();
  }
  const wrong = faces.find((tally) => tally.faces !== Number(tally.name));
  if (wrong) throw new Error(`${wrong.faces} faces were found in the picture of ${wrong.name}`);
  return { sizes: sizes.map(costOf), faces: faces.map(costOf), widths: widths.map(costOf) };
}

/** What is known of an image so far: how many faces it has, and how long each call took. */
interface Tally {
  readonly name: string;
  readonly image: string;
  faces: number;
  readonly embedTimes: number[];
  readonly analyzeTimes: number[];
}

function tallyOf(name: string, image: string): Tally {
  return { name, image, faces: 0, embedTimes: [], analyzeTimes: [] };
}

async function addTurn(core: BareCore, tally: Tally): Promise<void> {
  const { image } = tally;
  const embedding = await core.run({ call: "embed", image, seconds: TURN_SECONDS });
  const analysis = await core.run({ call: "analyze", image, seconds: TURN_SECONDS });
  tally.faces = embedding.faces;
  tally.embedTimes.push(...embedding.times);
  tally.analyzeTimes.push(...analysis.times);
}

function costOf({ name, image, faces, embedTimes, analyzeTimes }: Tally): Cost {
  return {
    name,
    bytes: statSync(image).size,
    faces,
    embedMs: quantile(embedTimes, FASTEST),
    analyzeMs: quantile(analyzeTimes, FASTEST),
  };
}

/** Tells the costs, and how they grow. */
export function costsChapter({ sizes, faces, widths }: Costs): Chapter {
  // What a further face costs where there are many, against where there are few: 1 when linear.
  const [one, , four, eight] = faces.map(({ analyzeMs }) => analyzeMs);
  const further = (eight! - four!) / 4 / ((four! - one!) / 3);
  // 16 times the pixels cost 16 to the power of this times as much: 1 when linear.
  const power = Math.log(widths[2]!.embedMs / widths[0]!.embedMs) / Math.log(16);
  return {
    title: "What an image costs",
    figures: [
      {
        name: "a further face from 4 to 8 against one from 1 to 4",
        measured: `${further.toFixed(2)} times`,
        target: "≤ 1.25 times (linear)",
        isMet: further <= 1.25,
      },
      {
        name: "cost above 1024 pixels, as a power of the pixels",
        measured: power.toFixed(2),
        target: "< 1 (sub-linear)",
        isMet: power < 1,
      },
    ],
    body: `Time of one call of the core in one process, which a tenth of the calls keep to: other work on the machine only ever adds to it. \`embed\` is the work of get_face_vec, \`analyze\` that of get_image_attr.

${costTable("photograph", sizes)}

By faces, on a picture of 1024x512 with so many heads of equal size:

${costTable("faces", faces, false)}

By pixels, one photograph of three faces at growing widths:

${costTable("width", widths)}`,
  };
}

function costTable(head: string, costs: readonly Cost[], withFaces = true): string {
  return formatTable(
    [head, "KiB", ...(withFaces ? ["faces found"] : []), "embed", "analyze"],
    costs.map(({ name, bytes, faces, embedMs, analyzeMs }) => [
      name,
      Math.round(bytes / 1024),
      ...(withFaces ? [faces] : []),
      formatMs(embedMs),
      formatMs(analyzeMs),
    ]),
  );
}
