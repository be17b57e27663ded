import { type FaceRequest, type RequestImage, requestPath } from "./request.ts";

/** The address of the service, and the user id to send. */
export interface Destination {
  readonly base: URL;
  readonly userId: string;
}

/** Writes a request as a curl command. */
export function curlCommand(request: FaceRequest, { base, userId }: Destination): string {
  const fields = request.images.map(
    (image) => `-F ${shellQuote(`${image.field}=@${curlFileName(fileName(image))}`)}`,
  );
  const url = new URL(requestPath(request), base).href;
  return [`curl -H ${shellQuote(`user_id: ${userId}`)}`, ...fields, shellQuote(url)].join(" \\\n  ");
}

/** Writes a request as a grpcurl command that sends the photos as Base64. */
export function grpcurlCommand(request: FaceRequest, { base, userId }: Destination): string {
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
  const contents = images.map((image) => `"$(base64 < ${shellQuote(fileName(image))} | tr -d '\\n')"`);
  const isTls = base.protocol === "https:";
  const host = base.port ? base.host : `${base.host}:${isTls ? 443 : 80}`;
  const call = ["grpcurl", ...(isTls ? [] : ["-plaintext"]), "-H", shellQuote(`user_id: ${userId}`), "-d @"];
  return [
    `printf '{${members.join(",")}}'`,
    ...contents.map((content) => `  ${content}`),
    `  | ${call.join(" ")}`,
    `  ${host} face.v1.FaceService/${operation.rpc}`,
  ].join(" \\\n");
}

function fileName({ photo, slot }: RequestImage): string {
  return photo?.name ?? `photo-${slot + 1}.jpg`;
}

/** Quotes a text as one word of a POSIX shell. */
function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Quotes a file name for curl's `-F`, where some characters are special. */
function curlFileName(name: string): string {
  return /[";,\\]/.test(name) ? `"${name.replaceAll(/["\\]/g, "\\$&")}"` : name;
}
