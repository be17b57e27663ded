import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import sharp from "sharp";
import type { Analyzer } from "../../src/core/index.ts";
import { formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { createRandom } from "../../tools/support/random.ts";
import { sum } from "../../tools/support/statistics.ts";
import type { Chapter } from "../report.ts";

const WIDTH = 640;
const HEIGHT = 480;
/** Images of each generated kind. */
const IMAGES = 12;

/** Returns a number between two others. */
type Draw = (from: number, to: number) => number;

/** Draws the inside of an SVG of WIDTH x HEIGHT. */
const DRAWINGS: Readonly<Record<string, (draw: Draw) => string>> = {
  flowers: (draw) => times(draw(1, 9), () => flower(draw)),
  houses: (draw) => times(draw(1, 5), () => house(draw)),
  "cars from the front": (draw) => times(draw(1, 4), () => car(draw)),
  dots: (draw) => times(draw(20, 300), () => ellipse(draw, draw(0, WIDTH), draw(0, HEIGHT), draw(3, 40))),
  stripes: (draw) =>
    times(draw(10, 60), () => {
      const [x, y] = [draw(0, WIDTH), draw(0, HEIGHT)];
      return `<line x1="${x}" y1="0" x2="${y}" y2="${HEIGHT}" stroke="${color(draw)}" stroke-width="${draw(2, 30)}"/>`;
    }),
  text: (draw) =>
    times(14, (i) => {
      const words = times(9, () => `${Math.floor(draw(0, 1e6)).toString(36)} `);
      return `<text x="10" y="${32 * (i + 1)}" font-size="${draw(12, 32)}">${words}</text>`;
    }),
};

/** Icons of a package that is a development dependency. Its logo is missing: it shows two masks. */
const ICONS = ["lib/vite/dashboard/assets/safari-na3_-uQk.svg", "lib/server/chromium/appIcon.png"];

/** What is found in images of one kind. */
export interface NonFaces {
  readonly kind: string;
  readonly images: number;
  readonly falsePositives: number;
}

/** Images of one kind. */
export interface NonFaceImages {
  readonly kind: string;
  readonly images: readonly CreateImage[];
}

/** Textures, drawings and icons. */
export function nonFaceImages(): NonFaceImages[] {
  // The core blocks the loaders of formats that it does not accept, in the whole process.
  sharp.unblock({ operation: ["VipsForeignLoadSvg"] });
  const kinds = { ...drawings(), "noise of several scales": noises(), icons: icons() };
  return Object.entries(kinds).map(([kind, images]) => ({ kind, images }));
}

/** Looks for faces in them. */
export function measureNonFaces(analyzer: Analyzer): Promise<NonFaces[]> {
  return mapWithProgress("non-faces", nonFaceImages(), async ({ kind, images }) => {
    const found = [];
    for (const image of images) {
      const { facesFound } = await analyzer.analyze(await image());
      found.push(facesFound);
    }
    return { kind, images: images.length, falsePositives: sum(found) };
  });
}

type CreateImage = () => Promise<Buffer>;

function drawings(): Record<string, CreateImage[]> {
  return Object.fromEntries(
    Object.entries(DRAWINGS).map(([kind, content]) => [
      kind,
      seeds().map((seed) => () => {
        const draw = createDraw(seed);
        const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}"><rect width="100%" height="100%" fill="${color(draw)}"/>${content(draw)}</svg>`;
        return sharp(Buffer.from(svg)).removeAlpha().png().toBuffer();
      }),
    ]),
  );
}

/** Random pixels of 1 to 64 times their size, smoothly enlarged: from grain to clouds. */
function noises(): CreateImage[] {
  return seeds().map((seed) => () => {
    const draw = createDraw(seed);
    const scale = 2 ** (seed % 7);
    const [width, height] = [Math.ceil(WIDTH / scale), Math.ceil(HEIGHT / scale)];
    const pixels = Buffer.from(Array.from({ length: width * height * 3 }, () => draw(0, 256)));
    return sharp(pixels, { raw: { width, height, channels: 3 } })
      .resize(WIDTH, HEIGHT, { fit: "fill" })
      .png()
      .toBuffer();
  });
}

function icons(): CreateImage[] {
  const folder = dirname(createRequire(import.meta.url).resolve("playwright-core/package.json"));
  return ICONS.map(
    (path) => () =>
      sharp(readFileSync(join(folder, path)))
        .resize(WIDTH, HEIGHT, { fit: "contain", background: "#ffffff" })
        .flatten({ background: "#ffffff" })
        .png()
        .toBuffer(),
  );
}

function flower(draw: Draw): string {
  const [x, y, radius] = [draw(0, WIDTH), draw(0, HEIGHT), draw(20, 160)];
  const petals = Math.floor(draw(4, 13));
  const fill = color(draw);
  const petal = (i: number) =>
    `<ellipse cx="${x}" cy="${y - radius * 0.6}" rx="${(radius * 1.8) / petals}" ry="${radius * 0.5}" fill="${fill}" stroke="black" transform="rotate(${(360 * i) / petals} ${x} ${y})"/>`;
  return times(petals, petal) + ellipse(draw, x, y, radius * 0.3);
}

function house(draw: Draw): string {
  const [x, y, side] = [draw(0, WIDTH), draw(0, HEIGHT), draw(60, 240)];
  const window = (across: number, down: number, size: number) =>
    rectangle(draw, x + across * side, y + down * side, size * side, size * side);
  const roof = `<polygon points="${x},${y} ${x + side / 2},${y - side / 2} ${x + side},${y}" fill="${color(draw)}"/>`;
  return `${rectangle(draw, x, y, side, side)}${roof}${window(0.15, 0.2, 0.2)}${window(0.65, 0.2, 0.2)}${window(0.4, 0.6, 0.25)}`;
}

function car(draw: Draw): string {
  const [x, y, side] = [draw(0, WIDTH), draw(0, HEIGHT), draw(60, 240)];
  const light = (across: number) => ellipse(draw, x + across * side, y + 0.5 * side, side * 0.1);
  const grille = rectangle(draw, x + 0.3 * side, y + 0.55 * side, 0.4 * side, 0.12 * side);
  return `${rectangle(draw, x + 0.15 * side, y, 0.7 * side, 0.4 * side)}${rectangle(draw, x, y + 0.35 * side, side, 0.4 * side)}${light(0.15)}${light(0.85)}${grille}`;
}

function rectangle(draw: Draw, x: number, y: number, width: number, height: number): string {
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${color(draw)}" stroke="black"/>`;
}

function ellipse(draw: Draw, x: number, y: number, radius: number): string {
  return `<ellipse cx="${x}" cy="${y}" rx="${radius}" ry="${radius * draw(0.7, 1)}" fill="${color(draw)}"/>`;
}

function color(draw: Draw): string {
  return `rgb(${Math.floor(draw(0, 256))} ${Math.floor(draw(0, 256))} ${Math.floor(draw(0, 256))})`;
}

function times(count: number, content: (i: number) => string): string {
  return Array.from({ length: Math.floor(count) }, (_, i) => content(i)).join("");
}

function seeds(): number[] {
  return Array.from({ length: IMAGES }, (_, i) => i + 1);
}

function createDraw(seed: number): Draw {
  const random = createRandom(seed);
  return (from, to) => from + random() * (to - from);
}

/** Reports how many faces are found where there is none. */
export function nonFacesChapter(kinds: readonly NonFaces[]): Chapter {
  const images = sum(kinds.map((kind) => kind.images));
  const falsePositives = sum(kinds.map((kind) => kind.falsePositives));
  return {
    title: "Images without a face",
    figures: [
      {
        name: `faces found in ${images} images without a face`,
        measured: String(falsePositives),
        target: "≤ 2",
        isMet: falsePositives <= 2,
      },
    ],
    body: [
      `Textures and drawings of ${WIDTH} x ${HEIGHT} pixels, made on the spot, and icons of a package.`,
      formatTable(
        ["kind", "images", "faces found"],
        kinds.map((kind) => [kind.kind, kind.images, kind.falsePositives]),
      ),
    ].join("\n\n"),
  };
}
