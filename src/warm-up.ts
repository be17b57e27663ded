import { createServer, request } from "node:http";
import { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import type { Gate } from "./accounts/gate.ts";
import { drawnFace } from "./core/index.ts";
import type { Wires } from "./wires.ts";

/** Stands for a user and an address that nobody has, and between the parts of a body. */
const NAME = "visage-warm-up";
const TIMES = 2;

/**
 * Asks the gate for a stranger and sends a few requests to the wires, through pipes in this process, so that the first
 * caller does not wait for code to be loaded and compiled. What they are answered does not matter: that networks work
 * has been tried by then.
 */
export async function warmUp(gate: Gate, wires: Wires): Promise<void> {
  void gate.admit({ userId: NAME, address: NAME });
  const server = createServer(wires);
  const body = multipartOf(drawnFace());
  for (let time = 0; time < TIMES; time++) {
    const [near, far] = pipe();
    server.emit("connection", far);
    await new Promise((resolve, reject) => {
      request({
        method: "POST",
        path: "/get_face_vec",
        headers: { "content-type": `multipart/form-data; boundary=${NAME}`, connection: "close" },
        createConnection: () => near,
      })
        .on("response", (response) => text(response).then(resolve, reject))
        .on("error", reject)
        .end(body);
    });
  }
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
