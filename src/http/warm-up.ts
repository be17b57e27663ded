import { createServer, type RequestOptions, request } from "node:http";
import type { AddressInfo } from "node:net";
import { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { createUncountedCaller } from "../accounts/admission-result.ts";
import type { Authenticator } from "../accounts/authenticator.ts";
import type { Permission } from "../permissions.ts";
import { isSwitchedOff } from "../service/method-permissions.ts";
import type { RequestListener } from "./exchange.ts";

/** Options of the warm-up. */
export interface WarmUpOptions {
  readonly authenticator: Authenticator;
  /** Creates a listener like the service's own, but with this authenticator and without observers. */
  readonly createListener: (authenticator: Authenticator) => RequestListener;
  /** The service's own port, if it is cleartext. */
  readonly port: AddressInfo | undefined;
  /** An image with a face. */
  readonly image: Uint8Array;
  /** What is switched off for everybody. */
  readonly off: readonly Permission[];
}

/** Operations that use a worker, with the fields of their images. The first one that is not switched off runs. */
const OPERATIONS = [
  { method: FaceService.method.getFaceVec, path: "/get_face_vec", fields: ["img"] },
  { method: FaceAnalysisService.method.analyzeImage, path: "/v1/images:analyze", fields: ["image"] },
  { method: FaceService.method.matchFaces, path: "/match_faces", fields: ["img_1", "img_2"] },
];

/** A user id, client address and multipart boundary that no client uses. */
const NAME = "visage-warm-up";
const REPETITIONS = { account: 3, probe: 5, operation: 4 };

/** Operations in parallel: most machines have as many workers. */
const PARALLEL_OPERATIONS = 2;

/** How long a port that does not respond may delay the start. */
const PROBES_TIMEOUT_MS = 500;

/** Admits every request and counts no usage. */
const WARM_UP_AUTHENTICATOR: Authenticator = {
  admit: async () => ({ admitted: true, caller: createUncountedCaller(NAME, NAME) }),
  accountsAvailable: true,
  close: async () => {},
};

/**
 * Runs account look-ups, probes and an operation a few times each, so that the first client does not wait until code
 * is loaded and compiled. Ignores their results: the workers have tested the networks already. The operation comes
 * through in-process pipes, so that no client can use the authenticator that admits everyone.
 */
export async function warmUp(options: WarmUpOptions): Promise<void> {
  const { authenticator, createListener, port, off } = options;
  // Not awaited: an account store that is slow or down must not delay the start.
  lookUpAccounts(authenticator).catch(() => {});
  if (port) await probe(port);
  const operation = OPERATIONS.find(({ method }) => !isSwitchedOff(method, off));
  if (operation) await runOperation(createListener(WARM_UP_AUTHENTICATOR), operation, options.image);
}

async function lookUpAccounts(authenticator: Authenticator): Promise<void> {
  for (let i = 0; i < REPETITIONS.account; i++)
    await authenticator.admit({ keys: [`${NAME}-${i}`], address: `${NAME}-${i}` });
}

async function probe({ address: host, port }: AddressInfo): Promise<void> {
  const signal = AbortSignal.timeout(PROBES_TIMEOUT_MS);
  // The port may be reachable for clients even if it is not from here.
  for (let i = 0; i < REPETITIONS.probe; i++)
    await sendRequest({ host, port, path: "/healthz", agent: false, signal }).catch(() => {});
}

async function runOperation(
  listener: RequestListener,
  { path, fields }: (typeof OPERATIONS)[number],
  image: Uint8Array,
): Promise<void> {
  const server = createServer(listener);
  const body = multipartFrom(fields, image);
  const headers = {
    user_id: NAME,
    "content-type": `multipart/form-data; boundary=${NAME}`,
    connection: "close",
  };
  const run = () => {
    const [client, socket] = createPipe();
    server.emit("connection", Object.assign(socket, { remoteAddress: "127.0.0.1" }));
    return sendRequest({ method: "POST", path, headers, createConnection: () => client }, body);
  };
  for (let i = 0; i < REPETITIONS.operation; i++)
    await Promise.all(Array.from({ length: PARALLEL_OPERATIONS }, run));
}

function sendRequest(options: RequestOptions, body?: Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    request(options)
      .on("response", (response) => text(response).then(resolve, reject))
      .on("error", reject)
      .end(body);
  });
}

function multipartFrom(fields: readonly string[], image: Uint8Array): Buffer {
  const parts = fields.flatMap((field) => [
    `--${NAME}\r\ncontent-disposition: form-data; name="${field}"; filename="face.png"\r\ncontent-type: image/png\r\n\r\n`,
    image,
    "\r\n",
  ]);
  return Buffer.concat([...parts, `--${NAME}--\r\n`].map((part) => Buffer.from(part)));
}

/** Creates two connected streams: what is written to one can be read from the other. */
function createPipe(): [Duplex, Duplex] {
  const ends: Duplex[] = [];
  for (const other of [1, 0])
    ends.push(
      new Duplex({
        read() {},
        write(chunk, _, done) {
          ends[other]!.push(chunk);
          done();
        },
        final(done) {
          ends[other]!.push(null);
          done();
        },
      }),
    );
  return ends as [Duplex, Duplex];
}
