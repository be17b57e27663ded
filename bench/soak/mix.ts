import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { OK, type Protocol, type RequestKind } from "../load/load.ts";
import { type Photos, SIZES } from "../load/photos.ts";

/** A request of the soak test and the envelope code that its response must have. */
export interface SoakRequest extends RequestKind {
  readonly expected: string;
}

const PROTOCOLS: readonly Protocol[] = ["grpc", "multipart", "json"];

/** Creates every operation on every photo size over every protocol, and about one invalid request in six. */
export async function createMix(photos: Photos, folder: string): Promise<SoakRequest[]> {
  const invalidImages = await createInvalidImages(photos, folder);
  return PROTOCOLS.flatMap((protocol) => [
    ...SIZES.flatMap((size): SoakRequest[] => [
      { protocol, operation: "get_face_vec", images: [photos.oneFace(size)], expected: OK },
      { protocol, operation: "get_face_vec", images: [photos.fiveFaces(size)], expected: OK },
      { protocol, operation: "get_image_attr", images: [photos.oneFace(size)], expected: OK },
      { protocol, operation: "get_image_attr", images: [photos.fiveFaces(size)], expected: OK },
      {
        protocol,
        operation: "match_faces",
        images: [photos.oneFace(size), photos.otherPerson],
        expected: OK,
      },
    ]),
    ...invalidImages.map(
      ({ file, expected }): SoakRequest => ({
        protocol,
        operation: "get_face_vec",
        images: [file],
        expected,
      }),
    ),
  ]);
}

/** Creates images that must be rejected: without a face, truncated, with too many pixels. */
async function createInvalidImages(photos: Photos, folder: string) {
  const photo = readFileSync(photos.oneFace("640x480"));
  const singleColour = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: "#5080b0" } })
      .png()
      .toBuffer();
  const images = [
    { name: "no-face.png", bytes: await singleColour(640, 480), expected: "3001" },
    { name: "truncated.jpg", bytes: photo.subarray(0, photo.length / 2), expected: "2003" },
    { name: "too-large.png", bytes: await singleColour(8000, 6000), expected: "2005" },
  ];
  return images.map(({ name, bytes, expected }) => {
    const file = join(folder, name);
    writeFileSync(file, bytes);
    return { file, expected };
  });
}
