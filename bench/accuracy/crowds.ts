import sharp from "sharp";
import { scaleBox } from "../../src/core/geometry.ts";
import type { Analyzer, Box } from "../../src/core/index.ts";
import { countTruePositives } from "../../tools/support/evaluation.ts";
import { formatPercent, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { sum } from "../../tools/support/statistics.ts";
import type { Chapter } from "../report.ts";
import { isSameFace, type Subject } from "./subjects.ts";

const SIDE = 1600;
const TILES_PER_ROW = [2, 5, 10, 14];

/** The faces found in the mosaics of one size. */
export interface Crowd {
  readonly tilesPerRow: number;
  readonly mosaics: number;
  readonly faces: number;
  readonly found: number;
  /** Boxes that overlap neither a face nor a bystander of a tile. */
  readonly falsePositives: number;
}

/** Finds the faces in mosaics of photos. Every photo is in one mosaic of each size. */
export async function measureCrowds(analyzer: Analyzer, subjects: readonly Subject[]): Promise<Crowd[]> {
  const mosaics = TILES_PER_ROW.flatMap((tilesPerRow) =>
    Array.from({ length: Math.max(1, Math.floor(subjects.length / tilesPerRow ** 2)) }, (_, i) => ({
      tilesPerRow,
      tiles: Array.from(
        { length: tilesPerRow ** 2 },
        (_, tile) => subjects[(i * tilesPerRow ** 2 + tile) % subjects.length]!,
      ),
    })),
  );
  const measured = await mapWithProgress("crowds", mosaics, async ({ tilesPerRow, tiles }) => {
    const { faces } = await analyzer.analyze(await createMosaic(tiles, tilesPerRow), {
      landmarks: false,
      attributes: false,
    });
    const boxes = faces.map(({ box }) => box);
    const placed = tiles.map((subject, i) => placeBoxes(subject, i, tilesPerRow));
    const known = placed.flatMap(({ face, bystanders }) => [face, ...bystanders]);
    return {
      tilesPerRow,
      faces: tiles.length,
      found: countTruePositives(
        boxes,
        placed.map(({ face }) => face),
      ),
      falsePositives: boxes.filter((box) => !known.some((face) => isSameFace(box, face))).length,
    };
  });
  return TILES_PER_ROW.map((tilesPerRow) => {
    const own = measured.filter((mosaic) => mosaic.tilesPerRow === tilesPerRow);
    return {
      tilesPerRow,
      mosaics: own.length,
      faces: sum(own.map(({ faces }) => faces)),
      found: sum(own.map(({ found }) => found)),
      falsePositives: sum(own.map(({ falsePositives }) => falsePositives)),
    };
  });
}

async function createMosaic(tiles: readonly Subject[], tilesPerRow: number): Promise<Buffer> {
  const side = Math.floor(SIDE / tilesPerRow);
  const composed = await Promise.all(
    tiles.map(async ({ photo }, i) => ({
      input: await sharp(photo).resize(side, side, { fit: "fill" }).png().toBuffer(),
      left: (i % tilesPerRow) * side,
      top: Math.floor(i / tilesPerRow) * side,
    })),
  );
  return sharp({ create: { width: SIDE, height: SIDE, channels: 3, background: "#808080" } })
    .composite(composed)
    .jpeg({ quality: 95 })
    .toBuffer();
}

/** Converts the boxes of a photo to those in the mosaic. */
function placeBoxes({ width, height, box, bystanders }: Subject, tile: number, tilesPerRow: number) {
  const side = Math.floor(SIDE / tilesPerRow);
  const [left, top] = [(tile % tilesPerRow) * side, Math.floor(tile / tilesPerRow) * side];
  const place = (one: Box): Box => {
    const { x1, y1, x2, y2 } = scaleBox(one, side / width, side / height);
    return { x1: left + x1, y1: top + y1, x2: left + x2, y2: top + y2 };
  };
  return { face: place(box), bystanders: bystanders.map(place) };
}

/** Reports how many faces of the mosaics are found, and how many boxes have no face. */
export function crowdsChapter(crowds: readonly Crowd[]): Chapter {
  const largest = crowds.at(-1)!;
  const size = `${largest.tilesPerRow} x ${largest.tilesPerRow} faces`;
  return {
    title: "Crowds",
    figures: [
      {
        name: `${size}: found`,
        measured: `${largest.found} of ${largest.faces}`,
        target: "all",
        isMet: largest.found === largest.faces,
      },
      {
        name: `${size}: boxes without a face`,
        measured: String(largest.falsePositives),
        target: "≤ 2",
        isMet: largest.falsePositives <= 2,
      },
    ],
    body: [
      `Photos of the verification set as the tiles of a photo of ${SIDE} x ${SIDE} pixels. A box without a face overlaps (IoU ≥ 0.3) neither the most prominent face of a tile nor another face that is found in the photo of a tile or in its enlarged copy.`,
      formatTable(
        ["tiles", "mosaics", "faces", "found", "boxes without a face"],
        crowds.map(({ tilesPerRow, mosaics, faces, found, falsePositives }) => [
          `${tilesPerRow} x ${tilesPerRow}`,
          mosaics,
          faces,
          formatPercent(found, faces),
          falsePositives,
        ]),
      ),
    ].join("\n\n"),
  };
}
