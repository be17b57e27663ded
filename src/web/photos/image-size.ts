import type { Size } from "./geometry.ts";

/** Metadata before the size of a JPEG rarely takes more. */
const HEADER_BYTES = 1024 * 1024;

const PNG_SIGNATURE = 0x89504e47;
const JPEG_SIGNATURE = 0xffd8;

/** Reads the size of a JPEG or PNG from its header, without decoding it. Undefined if it is not found there. */
export async function readSize(file: Blob): Promise<Size | undefined> {
  const header = new DataView(await file.slice(0, HEADER_BYTES).arrayBuffer());
  try {
    if (header.getUint32(0) === PNG_SIGNATURE)
      return { width: header.getUint32(16), height: header.getUint32(20) };
    return header.getUint16(0) === JPEG_SIGNATURE ? readJpegSize(header) : undefined;
  } catch {
    // The file ends early.
    return undefined;
  }
}

/** Reads the size from the start of frame, before which there are segments of metadata and tables. */
function readJpegSize(header: DataView): Size {
  for (let start = 2; ; start += 2 + header.getUint16(start + 2)) {
    const marker = header.getUint16(start);
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (isFrame) return { width: header.getUint16(start + 7), height: header.getUint16(start + 5) };
  }
}
