import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { OK, type RequestKind, type Wire } from "../load/load.ts";
import { type Photos, SIZES } from "../load/photos.ts";

/** A request of a soak, and the code that it must be answered with. */
export interface SoakRequest extends RequestKind {
  readonly expected: string;
}

const WIRES: readonly Wire[] = ["grpc", "multipart", "json"];

/** Every operation on every size over every wire, and about one in six that is at fault. */
export async function makeMix(photos: Photos, folder: string): Promise<SoakRequest[]> {
  const faults = await makeFaults(photos, folder);
  return WIRES.flatMap((wire) => [
    ...SIZES.flatMap((size): SoakRequest[] => [
      { wire, operation: "get_face_vec", images: [photos.one(size)], expected: OK },
      { wire, operation: "get_face_vec", images: [photos.many(size)], expected: OK },
      { wire, operation: "get_image_attr", images: [photos.one(size)], expected: OK },
      { wire, operation: "get_image_attr", images: [photos.many(size)], expected: OK },
      { wire, operation: "match_faces", images: [photos.one(size), photos.other], expected: OK },
    ]),
    ...faults.map(
      ({ file, expected }): SoakRequest => ({ wire, operation: "get_face_vec", images: [file], expected }),
    ),
  ]);
}

/** Images at fault: without a face, cut off, with too many pixels. */
async function makeFaults(photos: Photos, folder: string) {
  const whole = readFileSync(photos.one("640x480"));
  const plain = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: "#5080b0" } })
      .png()
      .toBuffer();
  const faults = [
    { name: "no-face.png", bytes: await plain(640, 480), expected: "3001" },
    { name: "broken.jpg", bytes: whole.subarray(0, whole.length / 2), expected: "2003" },
    { name: "too-large.png", bytes: await plain(8000, 6000), expected: "2005" },
  ];
  return faults.map(({ name, bytes, expected }) => {
    const file = join(folder, name);
    writeFileSync(file, bytes);
    return { file, expected };
  });
}
