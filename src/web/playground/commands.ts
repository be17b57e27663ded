import { type FaceRequest, type RequestImage, targetOf } from "./request.ts";

/** Where a request goes, and in whose name. */
export interface Destination {
  readonly base: URL;
  readonly userId: string;
}

/** The request as a line for curl. */
export function curlFrom(request: FaceRequest, { base, userId }: Destination): string {
  const fields = request.images.map((image) => `-F ${quoted(`${image.field}=@${curlName(nameOf(image))}`)}`);
  const url = new URL(targetOf(request), base).href;
  return [`curl -H ${quoted(`user_id: ${userId}`)}`, ...fields, quoted(url)].join(" \\\n  ");
}

/** The request as a line for grpcurl, which reads the photos as Base64. */
export function grpcurlFrom(request: FaceRequest, { base, userId }: Destination): string {
  const { operation, images, detect, quality } = request;
  const members = [
    ...images.map(({ field }) => `"${field}":{"content":"%s"}`),
    ...images.flatMap(({ boxField, box }) => {
      if (!box) return [];
      const [x1, y1, x2, y2] = box;
      const text = JSON.stringify({ x1, y1, x2, y2 });
      return [`"${boxField}":${operation.name === "get_image_attr" ? `[${text}]` : text}`];
    }),
    ...(detect ? [] : ['"face_det":false']),
    ...(quality ? ['"quality":true'] : []),
    '"detail":true',
  ];
  const contents = images.map((image) => `"$(base64 < ${quoted(nameOf(image))} | tr -d '\\n')"`);
  const isTls = base.protocol === "https:";
  const host = base.port ? base.host : `${base.host}:${isTls ? 443 : 80}`;
  const call = ["grpcurl", ...(isTls ? [] : ["-plaintext"]), "-H", quoted(`user_id: ${userId}`), "-d @"];
  return [
    `printf '{${members.join(",")}}'`,
    ...contents.map((content) => `  ${content}`),
    `  | ${call.join(" ")}`,
    `  ${host} face.v1.FaceService/${operation.rpc}`,
  ].join(" \\\n");
}

function nameOf({ photo, slot }: RequestImage): string {
  return photo?.name ?? `photo-${slot + 1}.jpg`;
}

/** The text as one word of a shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A file name in curl's form syntax, where some signs have a meaning. */
function curlName(name: string): string {
  return /[";,\\]/.test(name) ? `"${name.replaceAll(/["\\]/g, "\\$&")}"` : name;
}
