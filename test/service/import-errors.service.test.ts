// The errors of imports name the face at fault: a user with 100,000 lines has to find it.
import { ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { MAX_ENROLMENT_BATCH } from "../../src/galleries/gallery-store.ts";
import type { RunningService } from "../../src/main.ts";
import { createGalleryClient, type GalleryClient, MODEL, testPeople } from "../support/galleries.ts";
import { startTestService, USER } from "../support/service.ts";

/** Valid faces before the one at fault. Only whole batches of them are stored. */
const FACES = testPeople(2 * MAX_ENROLMENT_BATCH + 50, 1).map(({ values, ...ids }) => ({
  ...ids,
  embedding: { values, model: MODEL },
}));
const [{ embedding }] = FACES as [(typeof FACES)[number]];
const STORED = 2 * MAX_ENROLMENT_BATCH;
const SUFFIX = ` The first ${STORED} faces are stored.`;
const HEADERS = { "x-api-key": USER };
const MAX_REQUEST_BYTES = 100_000;

/** Faces that are rejected, and the error. */
const FAULTS = {
  "an id with a space": [{ personId: "a b", embedding }, /^The field person_id must be 1 to 128 /],
  "no person": [{ embedding }, /^The field person_id is missing\.$/],
  "no embedding": [{ personId: "a" }, /^The field embedding is missing\.$/],
  "127 numbers": [
    { personId: "a", embedding: { values: embedding.values.slice(1), model: MODEL } },
    /^The field embedding\.values must have 128 numbers\.$/,
  ],
  "another model": [
    { personId: "a", embedding: { ...embedding, model: "another" } },
    /^The embedding in embedding was made by the model "another" and this service has /,
  ],
  "a name that is too long": [
    { personId: "a", displayName: "x".repeat(257), embedding },
    /^The field display_name is longer than 256 characters\.$/,
  ],
} as const satisfies Record<string, readonly [object, RegExp]>;

/** The error of an import: its text and the metadata of its ErrorInfo. */
interface ImportError {
  readonly message: string;
  readonly metadata: Readonly<Record<string, string>>;
}

let service: RunningService;
let client: GalleryClient;
let galleryId: string;
let ids = 0;

beforeAll(async () => {
  service = await startTestService({ VISAGE_MAX_REQUEST_BYTES: String(MAX_REQUEST_BYTES) });
  client = createGalleryClient(service, USER);
});
afterAll(() => service.close());
beforeEach(async () => {
  galleryId = `g${++ids}`;
  await client.createGallery({ galleryId });
});

const post = (path: string, headers: Readonly<Record<string, string>>, body: string | Buffer) =>
  fetch(`http://127.0.0.1:${service.port}${path}`, {
    method: "POST",
    headers: { ...HEADERS, ...headers },
    body,
  });

/** Imports lines over plain HTTP. */
async function importLines(lines: readonly string[]): Promise<ImportError> {
  const response = await post(`/v1/galleries/${galleryId}:import`, {}, lines.join("\n"));
  const { message, details } = (await response.json()) as {
    readonly message: string;
    readonly details: readonly [{ readonly metadata: ImportError["metadata"] }];
  };
  return { message, metadata: details[0].metadata };
}

/** Imports messages over gRPC. */
async function importMessages(faces: readonly object[]): Promise<ImportError> {
  const messages = (async function* () {
    for (const face of faces) yield { galleryId, ...face };
  })();
  const fault: unknown = await client.importFaces(messages).catch((error: unknown) => error);
  const error = ConnectError.from(fault);
  return { message: error.rawMessage, metadata: error.findDetails(ErrorInfoSchema)[0]!.metadata };
}

/** Imports messages of JSON over Connect. */
async function importConnectJson(messages: readonly string[]): Promise<string> {
  const body = Buffer.concat(
    messages.map((message) => {
      const head = Buffer.alloc(5);
      head.writeUInt32BE(Buffer.byteLength(message), 1);
      return Buffer.concat([head, Buffer.from(message)]);
    }),
  );
  const type = { "content-type": "application/connect+json" };
  const response = await post("/visage.v1.GalleryService/ImportFaces", type, body);
  const end = Buffer.from(await response.arrayBuffer())
    .subarray(5)
    .toString();
  return (JSON.parse(end) as { error: { message: string } }).error.message;
}

async function storedFaces(): Promise<number> {
  return (await client.getGallery({ galleryId })).gallery!.faceCount;
}

describe("an import over plain HTTP names the line", () => {
  /** Blank lines are counted, because an editor counts them. */
  const BEFORE = ["", ...FACES.map((face) => JSON.stringify(face)), "", ""];
  const LINE = String(BEFORE.length + 1);

  async function expectError(line: string, text: RegExp): Promise<void> {
    const { message, metadata } = await importLines([...BEFORE, line, JSON.stringify(FACES[0])]);
    expect(message.startsWith(`Line ${LINE}: `), message).toBe(true);
    expect(message.endsWith(SUFFIX), message).toBe(true);
    expect(message.slice(`Line ${LINE}: `.length, -SUFFIX.length)).toMatch(text);
    expect(metadata).toMatchObject({ line: LINE, stored_faces: String(STORED) });
    expect(await storedFaces()).toBe(STORED);
  }

  test.each(Object.entries(FAULTS))("with %s", (_, [face, text]) => expectError(JSON.stringify(face), text));

  test.each([
    ["that is no JSON", '{"personId":', /^The body is not valid JSON\.$/],
    ["that is no object", "[]", /JSON/],
    [
      "with text instead of numbers",
      '{"personId":"a","embedding":{"values":"x"}}',
      /^The field embedding has a value that cannot be read\.$/,
    ],
    ["that is too long", `"${"x".repeat(MAX_REQUEST_BYTES)}"`, /larger than 100000 bytes\.$/],
  ])("%s", (_, line, text) => expectError(line, text));

  test("1 if it is the first, and mentions no stored faces", async () => {
    expect(await importLines(["{}"])).toMatchObject({
      message: "Line 1: The field person_id is missing.",
      metadata: { line: "1" },
    });
  });
});

describe("an import over RPC names the message", () => {
  const MESSAGE = String(FACES.length + 1);

  test.each(Object.entries(FAULTS))("with %s", async (_, [face, text]) => {
    const { message, metadata } = await importMessages([...FACES, face, FACES[0]!]);
    expect(message.startsWith(`Message ${MESSAGE}: `), message).toBe(true);
    expect(message.slice(`Message ${MESSAGE}: `.length, -SUFFIX.length)).toMatch(text);
    expect(message.endsWith(SUFFIX), message).toBe(true);
    expect(metadata).toMatchObject({ message: MESSAGE, stored_faces: String(STORED) });
    expect(await storedFaces()).toBe(STORED);
  });

  test("of another gallery", async () => {
    const { message } = await importMessages([...FACES, { ...FACES[0], galleryId: "other" }]);
    expect(message).toBe(`Message ${MESSAGE}: The field gallery_id must be the same for all faces.${SUFFIX}`);
  });

  test.each([
    ["that cannot be parsed", '{"personId":', "The body is not valid JSON."],
    ["of another shape", '{"personId":[1]}', "The request is malformed."],
    [
      "that is too large",
      `"${"x".repeat(MAX_REQUEST_BYTES)}"`,
      `The request body is larger than ${MAX_REQUEST_BYTES} bytes.`,
    ],
  ])("%s", async (_, message, text) => {
    const before = FACES.map((face) => JSON.stringify({ galleryId, ...face }));
    expect(await importConnectJson([...before, message])).toBe(`Message ${MESSAGE}: ${text}${SUFFIX}`);
  });
});

test("an error of the gallery names no line, and says what is stored", async () => {
  const faces = Array.from({ length: 21 }, (_, i) => ({ personId: "p", faceId: `${i}`, embedding }));
  const lines = [...FACES.slice(0, MAX_ENROLMENT_BATCH), ...faces].map((face) => JSON.stringify(face));
  const { message, metadata } = await importLines(lines);
  expect(message).toBe(`The person p can have 20 faces. The first ${MAX_ENROLMENT_BATCH} faces are stored.`);
  expect(metadata).not.toHaveProperty("line");
});
