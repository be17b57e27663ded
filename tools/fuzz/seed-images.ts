import sharp from "sharp";
import { readSamplePhoto } from "../support/sample-photos.ts";

const SIDE = 48;

/** Most seeds show a wall: the decoders are under test, and faces only cost inference time. */
const WALL = { left: 0, top: 0, width: 200, height: 200 };
const FACE = { left: 350, top: 330, width: 320, height: 320 };

/** Creates small JPEG, PNG and WebP files of many variants. */
export function createSeedImages(): Promise<Buffer[]> {
  const photo = (part = WALL) => sharp(readSamplePhoto(1)).extract(part).resize(SIDE);
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
    photo().webp().toBuffer(),
    photo(FACE).webp({ lossless: true }).toBuffer(),
    photo().webp().withMetadata({ orientation: 6 }).withIccProfile("p3").toBuffer(),
  ]);
}
