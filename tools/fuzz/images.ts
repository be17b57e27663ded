import { readFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";

const SIDE = 48;

/** Most show a wall: a face takes the networks longer, and it is the reading that is tried. */
const WALL = { left: 0, top: 0, width: 200, height: 200 };
const FACE = { left: 350, top: 330, width: 320, height: 320 };

/** Makes small JPEG and PNG files of many kinds from a photograph that an npm package brings. */
export function makeImages(): Promise<Buffer[]> {
  const file = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo/sample1.jpg");
  const photo = (part = WALL) => sharp(readFileSync(file)).extract(part).resize(SIDE);
  return Promise.all([
    photo().jpeg().toBuffer(),
    photo(FACE).jpeg({ progressive: true, chromaSubsampling: "4:4:4" }).toBuffer(),
    photo().jpeg({ quality: 30 }).withMetadata({ orientation: 6 }).withIccProfile("p3").toBuffer(),
    photo().greyscale().jpeg({ progressive: true }).toBuffer(),
    photo().toColourspace("cmyk").jpeg().toBuffer(),
    photo().png().toBuffer(),
    photo(FACE).png({ palette: true, progressive: true }).toBuffer(),
    photo().ensureAlpha(0.5).png({ palette: true, colours: 9 }).withMetadata({ orientation: 8 }).toBuffer(),
    photo().toColourspace("rgb16").ensureAlpha(0.5).png({ progressive: true }).toBuffer(),
    photo().toColourspace("grey16").png().withIccProfile("srgb").toBuffer(),
  ]);
}
