import {
  type SampleBox,
  type SampleImage,
  type SampleRequest,
  type SampleValue,
  sampleOperation,
} from "./sample-request.ts";

/** A JSON value in which photos stand as placeholders. */
export type MessageJson =
  | SampleValue
  | PhotoContent
  | readonly MessageJson[]
  | { readonly [name: string]: MessageJson };

/** The place of the Base64 of a photo. */
export class PhotoContent {
  constructor(readonly file: string) {}
}

/** The message of a request. `fields` are those to write beside the images. */
export function messageOf(
  { operation, images = [] }: SampleRequest,
  fields: Readonly<Record<string, SampleValue>>,
): MessageJson {
  const { imageKind, boxFields = {} } = sampleOperation(operation);
  const message: Record<string, MessageJson> = {};
  for (const image of images) {
    const content = image.url === undefined ? { content: new PhotoContent(image.file) } : { url: image.url };
    message[image.field] = imageKind === "source" ? sourceOf(image, content) : content;
    const boxField = boxFields[image.field];
    const [first, ...others] = (image.boxes ?? []).map(boxMessage);
    if (boxField && first) message[boxField.name] = boxField.isList ? [first, ...others] : first;
  }
  return { ...message, ...fields };
}

/** The messages of a stream of images, one for each. */
export function streamMessagesOf({ images = [], fields = {} }: SampleRequest): MessageJson[] {
  return images.map(({ file }) => ({
    key: file,
    request: { image: { content: new PhotoContent(file) }, ...fields },
  }));
}

/** Writes JSON and the photos it contains, in order. Each photo is `%s`, and other characters of printf are escaped. */
export function printfFormat(json: MessageJson): { readonly format: string; readonly files: string[] } {
  const files: string[] = [];
  const write = (value: MessageJson): string => {
    if (value instanceof PhotoContent) {
      files.push(value.file);
      return '"%s"';
    }
    if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
    if (typeof value === "object")
      return `{${Object.entries(value)
        .map(([name, member]) => `${JSON.stringify(name)}:${write(member as MessageJson)}`)
        .join(",")}}`;
    return JSON.stringify(value).replaceAll("\\", "\\\\").replaceAll("%", "%%");
  };
  return { format: write(json), files };
}

function sourceOf({ boxes }: SampleImage, image: MessageJson): MessageJson {
  const box = boxes?.[0];
  return box ? { image, box: boxMessage(box) } : { image };
}

function boxMessage([x1, y1, x2, y2]: SampleBox): MessageJson {
  return { x1, y1, x2, y2 };
}
