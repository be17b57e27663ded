import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** The types of the HTTP/2 frames of a response. */
export const FRAME = { data: 0, headers: 1 } as const;

const FRAME_HEADER_BYTES = 9;
const TYPE_OFFSET = 3;

/** What a proxy does with a frame. After a stall it passes nothing on, but keeps the connection. */
export type FrameAction = "pass" | "cut" | "stall";

/**
 * Starts a proxy before an HTTP/2 service. `decide` is called with the type of each frame of the service, before it is
 * passed on. Returns the port of the proxy.
 */
export async function startLossyProxy(
  port: number,
  decide: (frameType: number) => FrameAction,
): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const service = connect(port, "127.0.0.1");
    const cut = () => {
      client.destroy();
      service.destroy();
    };
    for (const socket of [client, service]) {
      sockets.add(socket);
      socket.on("error", cut);
      socket.on("close", cut);
    }
    client.pipe(service);
    passFrames(service, client, (type) => {
      const action = decide(type);
      if (action === "cut") cut();
      return action === "pass";
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Passes whole frames on, as long as `mayPass` returns true. */
function passFrames(from: Socket, to: Socket, mayPass: (type: number) => boolean): void {
  let received = Buffer.alloc(0);
  let isStalled = false;
  from.on("data", (chunk: Buffer) => {
    if (isStalled) return;
    received = Buffer.concat([received, chunk]);
    while (received.length >= FRAME_HEADER_BYTES) {
      const end = FRAME_HEADER_BYTES + received.readUIntBE(0, TYPE_OFFSET);
      if (received.length < end) return;
      isStalled = !mayPass(received[TYPE_OFFSET]!);
      if (isStalled) return;
      to.write(received.subarray(0, end));
      received = received.subarray(end);
    }
  });
}
