import { createServer, type RequestOptions, request } from "node:http";
import type { AddressInfo } from "node:net";
import { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import type { Gate } from "./accounts/gate.ts";
import { drawnFace } from "./core/index.ts";
import type { Wires } from "./wires.ts";

/** Stands for a user and an address that nobody has, and between the parts of a body. */
const NAME = "visage-warm-up";
const TIMES = { account: 3, probe: 5, operation: 4 };

/** So many operations are asked for at once, for which most machines have the workers. */
const OPERATIONS_AT_ONCE = 2;

/** How long a port that does not answer may hold up the start. */
const PROBES_TIMEOUT_MS = 500;

/**
 * Asks the gate for strangers, the port how it is, and the wires for an operation, a few times each, so that the first
 * caller does not wait for code to be loaded and compiled. What they answer does not matter: that networks work has
 * been tried by then. The operation comes through pipes in this process, as nobody has an account that it could be
 * asked for with.
 */
export async function warmUp(gate: Gate, wires: Wires, port?: AddressInfo): Promise<void> {
  // Not waited for: accounts that are slow to read, or cannot be, are no reason not to start.
  void askForAccounts(gate);
  if (port) await probe(port);
  await operate(wires);
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

async function operate(wires: Wires): Promise<void> {
  const server = createServer(wires);
  const body = multipartOf(drawnFace());
  const headers = { "content-type": `multipart/form-data; boundary=${NAME}`, connection: "close" };
  const ask = () => {
    const [near, far] = pipe();
    server.emit("connection", far);
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
