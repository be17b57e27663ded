import { Random } from "../support/random.ts";
import { USER } from "../support/service-process.ts";
import { HTTP_DICTIONARY, IMAGE_DICTIONARY, TEXT_DICTIONARY } from "./dictionaries.ts";
import { OPERATIONS, type Operation } from "./edge/requests.ts";
import { type MutationInputs, mutate } from "./mutate.ts";

/** One request to send. */
export interface Case {
  /** Seed, number and kind of the case. */
  readonly name: string;
  /** Valid HTTP must get a response. Invalid HTTP may also be rejected by closing the connection. */
  readonly isValidHttp: boolean;
  /** All bytes of the request. */
  readonly request: Buffer;
}

const QUERIES = [
  "",
  "quality=1",
  "face_det=0",
  "detail=true&face_det=1",
  "bboxes=10,10,100,100",
  "bboxes=10,10,100,100&20,20,90,90",
  "bboxes_1=0,0,120,120&bboxes_2=%200.5,%201,1e2,119.9",
];
const CONTENT_TYPES = [
  "multipart/form-data; boundary=X",
  "application/json",
  "application/x-www-form-urlencoded",
  "text/plain",
  "image/jpeg",
  "multipart/form-data",
  "application/json; charset=utf-16",
];

const TEXT_INPUTS: MutationInputs = {
  dictionary: TEXT_DICTIONARY,
  corpus: [Buffer.from('{"img":"/9j/4AAQ","bboxes":[1,2,3,4]}'), Buffer.from("img=iVBORw0KGgo%3D&quality=1")],
};
const HTTP_INPUTS: MutationInputs = {
  dictionary: HTTP_DICTIONARY,
  corpus: [Buffer.from("0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), Buffer.alloc(50)],
};

/** Generates the cases of a seed. The same seed gives the same cases. */
export function* generateCases(
  seed: number,
  images: readonly Buffer[],
  count = Number.POSITIVE_INFINITY,
): Generator<Case> {
  for (let number = 0; number < count; number++) {
    const random = new Random(seed * 1_000_003 + number);
    const generate = random.pick([imageCase, imageCase, imageCase, bodyCase, bodyCase, queryCase, httpCase]);
    yield {
      name: `${seed}-${number}-${generate.name}`,
      isValidHttp: generate !== httpCase,
      request: generate(random, images),
    };
  }
}

/** A valid request with a mutated image. Operations with one image suffice. */
function imageCase(random: Random, images: readonly Buffer[]): Buffer {
  const operation = random.pick(OPERATIONS.filter(({ fields }) => fields.length === 1));
  const image = mutate(random.pick(images), random, { dictionary: IMAGE_DICTIONARY, corpus: images });
  return encodeRequest(operation.path, CONTENT_TYPES[0]!, encodeMultipart(operation, [image]));
}

/** A mutated body with a right or wrong content type. */
function bodyCase(random: Random, images: readonly Buffer[]): Buffer {
  const operation = random.pick(OPERATIONS);
  const encode = random.pick([encodeMultipart, encodeForm, encodeJson]);
  const sent = operation.fields.map(() => random.pick(images));
  const body = mutate(encode(operation, sent), random, TEXT_INPUTS);
  return encodeRequest(operation.path, random.pick(CONTENT_TYPES), body);
}

/** A mutated query with a valid body. */
function queryCase(random: Random, images: readonly Buffer[]): Buffer {
  const operation = random.pick(OPERATIONS);
  const query = mutate(Buffer.from(random.pick(QUERIES)), random, TEXT_INPUTS);
  // Spaces and non-ASCII characters would make the request line invalid.
  const safe = query.toString("latin1").replaceAll(/[^\x21-\x7e]/g, encodeURIComponent);
  // Most images are truncated: the service rejects them at once, which leaves time for more queries.
  const image = images[0]!.subarray(0, random.pick([0, 200, 200, undefined]));
  const sent = operation.fields.map(() => image);
  return encodeRequest(`${operation.path}?${safe}`, CONTENT_TYPES[0]!, encodeMultipart(operation, sent));
}

/** A mutated HTTP request. */
function httpCase(random: Random, images: readonly Buffer[]): Buffer {
  const operation = random.pick(OPERATIONS);
  const target = `${operation.path}?${random.pick(QUERIES)}`;
  const request = encodeRequest(target, random.pick(CONTENT_TYPES), encodeForm(operation, [images[0]!]));
  return mutate(request, random, HTTP_INPUTS);
}

function encodeRequest(target: string, type: string, body: Uint8Array): Buffer {
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

function encodeMultipart({ fields }: Operation, images: readonly Buffer[]): Buffer {
  const parts = images.flatMap((image, i) => [
    Buffer.from(`--X\r\nContent-Disposition: form-data; name="${fields[i]}"; filename="a.jpg"\r\n`),
    Buffer.from("Content-Type: image/jpeg\r\n\r\n"),
    image,
    Buffer.from("\r\n"),
  ]);
  const quality = Buffer.from('--X\r\nContent-Disposition: form-data; name="quality"\r\n\r\n1\r\n--X--\r\n');
  return Buffer.concat([...parts, quality]);
}

function encodeForm({ fields }: Operation, images: readonly Buffer[]): Buffer {
  const pairs = images.map((image, i) => `${fields[i]}=${encodeURIComponent(image.toString("base64"))}`);
  return Buffer.from([...pairs, "bboxes=0,0,120,120"].join("&"));
}

function encodeJson({ fields }: Operation, images: readonly Buffer[]): Buffer {
  const entries = images.map((image, i) => [fields[i], `data:image/jpeg;base64,${image.toString("base64")}`]);
  return Buffer.from(JSON.stringify({ ...Object.fromEntries(entries), bboxes: "0,0,120,120", detail: true }));
}
