import { USER } from "../support/service-process.ts";
import { type Material, mutate } from "./mutate.ts";
import { Random } from "./random.ts";
import { HTTP_TOKENS, IMAGE_TOKENS, TEXT_TOKENS } from "./tokens.ts";

/** One request to try. */
export interface Case {
  /** Which case of its seed it is. */
  readonly name: string;
  /** Whether it is an HTTP request that must be answered; otherwise closing the connection is an answer too. */
  readonly isSound: boolean;
  /** All bytes that are sent. */
  readonly request: Buffer;
}

/** The operations with the names of their images. */
const OPERATIONS = [
  { path: "/match_faces", fields: ["img_1", "img_2"] },
  { path: "/compare_faces", fields: ["img_1", "img_2"] },
  { path: "/get_image_attr", fields: ["image_attr"] },
  { path: "/get_face_vec", fields: ["img"] },
] as const;
type Operation = (typeof OPERATIONS)[number];

const QUERIES = [
  "",
  "quality=1",
  "face_det=0",
  "detail=true&face_det=1",
  "bboxes=10,10,100,100",
  "bboxes=10,10,100,100&20,20,90,90",
  "bboxes_1=0,0,120,120&bboxes_2=%200.5,%201,1e2,119.9",
];
const TYPES = [
  "multipart/form-data; boundary=X",
  "application/json",
  "application/x-www-form-urlencoded",
  "text/plain",
  "image/jpeg",
  "multipart/form-data",
  "application/json; charset=utf-16",
];

const TEXT_MATERIAL: Material = {
  tokens: TEXT_TOKENS,
  others: [Buffer.from('{"img":"/9j/4AAQ","bboxes":[1,2,3,4]}'), Buffer.from("img=iVBORw0KGgo%3D&quality=1")],
};
const HTTP_MATERIAL: Material = {
  tokens: HTTP_TOKENS,
  others: [Buffer.from("0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), Buffer.alloc(50)],
};

/** Gives so many cases of a seed, the same each time. */
export function* casesOf(
  seed: number,
  images: readonly Buffer[],
  count = Number.POSITIVE_INFINITY,
): Generator<Case> {
  for (let number = 0; number < count; number++) {
    const random = new Random(seed * 1_000_003 + number);
    const make = random.pick([imageCase, imageCase, imageCase, bodyCase, bodyCase, queryCase, httpCase]);
    yield {
      name: `${seed}-${number}-${make.name}`,
      isSound: make !== httpCase,
      request: make(random, images),
    };
  }
}

/** A good request with a bad image in it; two images would say no more than one. */
function imageCase(random: Random, images: readonly Buffer[]): Buffer {
  const operation = random.pick(OPERATIONS.filter(({ fields }) => fields.length === 1));
  const image = mutate(random.pick(images), random, { tokens: IMAGE_TOKENS, others: images });
  return requestOf(operation.path, TYPES[0]!, multipartOf(operation, [image]));
}

/** A bad body, rightly or wrongly labelled. */
function bodyCase(random: Random, images: readonly Buffer[]): Buffer {
  const operation = random.pick(OPERATIONS);
  const bodyOf = random.pick([multipartOf, formOf, jsonOf]);
  const sent = operation.fields.map(() => random.pick(images));
  const body = mutate(bodyOf(operation, sent), random, TEXT_MATERIAL);
  return requestOf(operation.path, random.pick(TYPES), body);
}

/** A bad query over a good body. */
function queryCase(random: Random, images: readonly Buffer[]): Buffer {
  const operation = random.pick(OPERATIONS);
  const query = mutate(Buffer.from(random.pick(QUERIES)), random, TEXT_MATERIAL);
  // Blanks and what is not ASCII would make it a bad request line.
  const safe = query.toString("latin1").replaceAll(/[^\x21-\x7e]/g, encodeURIComponent);
  // Most images are refused at once, so that there is time for more queries.
  const image = images[0]!.subarray(0, random.pick([0, 200, 200, undefined]));
  const sent = operation.fields.map(() => image);
  return requestOf(`${operation.path}?${safe}`, TYPES[0]!, multipartOf(operation, sent));
}

/** Bad bytes where a request should be. */
function httpCase(random: Random, images: readonly Buffer[]): Buffer {
  const operation = random.pick(OPERATIONS);
  const target = `${operation.path}?${random.pick(QUERIES)}`;
  const request = requestOf(target, random.pick(TYPES), formOf(operation, [images[0]!]));
  return mutate(request, random, HTTP_MATERIAL);
}

function requestOf(target: string, type: string, body: Uint8Array): Buffer {
  const lines = [
    `POST ${target} HTTP/1.1`,
    "Host: fuzz",
    "Connection: close",
    `user_id: ${USER}`,
    `Content-Type: ${type}`,
    `Content-Length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body]);
}

function multipartOf({ fields }: Operation, images: readonly Buffer[]): Buffer {
  const parts = images.flatMap((image, i) => [
    Buffer.from(`--X\r\nContent-Disposition: form-data; name="${fields[i]}"; filename="a.jpg"\r\n`),
    Buffer.from("Content-Type: image/jpeg\r\n\r\n"),
    image,
    Buffer.from("\r\n"),
  ]);
  const quality = Buffer.from('--X\r\nContent-Disposition: form-data; name="quality"\r\n\r\n1\r\n--X--\r\n');
  return Buffer.concat([...parts, quality]);
}

function formOf({ fields }: Operation, images: readonly Buffer[]): Buffer {
  const pairs = images.map((image, i) => `${fields[i]}=${encodeURIComponent(image.toString("base64"))}`);
  return Buffer.from([...pairs, "bboxes=0,0,120,120"].join("&"));
}

function jsonOf({ fields }: Operation, images: readonly Buffer[]): Buffer {
  const entries = images.map((image, i) => [fields[i], `data:image/jpeg;base64,${image.toString("base64")}`]);
  return Buffer.from(JSON.stringify({ ...Object.fromEntries(entries), bboxes: "0,0,120,120", detail: true }));
}
