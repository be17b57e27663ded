import { createServer, type RequestListener, type RequestOptions, request } from "node:http";
import type { AddressInfo } from "node:net";
import { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import type { Gate } from "../accounts/gate.ts";
import { drawnFace } from "../core/index.ts";

/** What is to be warm. */
export interface WarmUpOptions {
  readonly gate: Gate;
  /** Answers requests as the service does, but lets in whom this gate does, and tells nobody of them. */
  readonly answerWith: (gate: Gate) => RequestListener;
  /** Where probes are answered in the clear. */
  readonly port: AddressInfo | undefined;
}

/** Stands for a user and an address that nobody has, and between the parts of a body. */
const NAME = "visage-warm-up";
const TIMES = { account: 3, probe: 5, operation: 4 };

/** So many operations are asked for at once, for which most machines have the workers. */
const OPERATIONS_AT_ONCE = 2;

/** Lets in whoever asks, and counts nothing: nobody has an account that an operation could be asked for with. */
const OWN_GATE: Gate = {
  admit: async () => ({
    admitted: true,
    caller: { fingerprint: NAME, maxImageBytes: undefined, limits: undefined, finish: () => {} },
  }),
  hasAccounts: true,
  close: async () => {},
};

/** How long a port that does not answer may hold up the start. */
const PROBES_TIMEOUT_MS = 500;

/**
 * Asks the gate for strangers, the port how it is, and the service for an operation, a few times each, so that the
 * first caller does not wait for code to be loaded and compiled. What they answer does not matter: that networks work
 * has been tried by then. The operation comes through pipes in this process, which no stranger can use.
 */
export async function warmUp({ gate, answerWith, port }: WarmUpOptions): Promise<void> {
  // Not waited for: accounts that are slow to read, or cannot be, are no reason not to start.
  askForAccounts(gate).catch(() => {});
  if (port) await probe(port);
  await operate(answerWith(OWN_GATE));
}

async function askForAccounts(gate: Gate): Promise<void> {
  for (let time = 0; time < TIMES.account; time++)
    await gate.admit({ userId: `${NAME}-${time}`, address: `${NAME}-${time}` });
}

async function probe({ address: host, port }: AddressInfo): Promise<void> {
  const signal = AbortSignal.timeout(PROBES_TIMEOUT_MS);
  // A port that cannot be reached from here may be from elsewhere.
  for (let time = 0; time < TIMES.probe; time++)
    await answerTo({ host, port, path: "/healthz", agent: false, signal }).catch(() => {});
}

async function operate(answer: RequestListener): Promise<void> {
  const server = createServer(answer);
  const body = multipartOf(drawnFace());
  const headers = {
    user_id: NAME,
    "content-type": `multipart/form-data; boundary=${NAME}`,
    connection: "close",
  };
  const ask = () => {
    const [near, far] = pipe();
    server.emit("connection", Object.assign(far, { remoteAddress: "127.0.0.1" }));
    return answerTo({ method: "POST", path: "/get_face_vec", headers, createConnection: () => near }, body);
  };
  for (let time = 0; time < TIMES.operation; time++)
    await Promise.all(Array.from({ length: OPERATIONS_AT_ONCE }, ask));
}

function answerTo(options: RequestOptions, body?: Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    request(options)
      .on("response", (response) => text(response).then(resolve, reject))
      .on("error", reject)
      .end(body);
  });
}

function multipartOf(image: Uint8Array): Buffer {
  const head = `--${NAME}\r\ncontent-disposition: form-data; name="img"; filename="face.png"\r\ncontent-type: image/png\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), image, Buffer.from(`\r\n--${NAME}--\r\n`)]);
}

/** Two ends: what is written to one can be read from the other. */
function pipe(): [Duplex, Duplex] {
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
