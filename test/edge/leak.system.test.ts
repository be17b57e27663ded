import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { data, envelope, headers } from "../../tools/fuzz/edge/http2-frames.ts";
import { MULTIPART_TYPE } from "../../tools/fuzz/edge/requests.ts";
import { findUnavailable } from "../../tools/fuzz/edge/valid-calls.ts";
import { createSeedImages } from "../../tools/fuzz/seed-images.ts";
import { USER } from "../../tools/support/service-process.ts";
import { type EdgeService, startEdgeService } from "../support/edge-service.ts";
import { http1PostHead, http2Opening, http2PostHeaders } from "../support/raw-post.ts";
import { until } from "../support/until.ts";

const CLIENTS = 1_000;
/** Fewer, because TLS handshakes are expensive. */
const TLS_CLIENTS = 200;
const PARALLEL_CLIENTS = 100;
/** Well below the idle timeout of 75 s: the service must notice that the clients have left. */
const SETTLE_MS = 10_000;
/** For connections to the metrics port, and files that a service opens on demand. */
const SPARE_DESCRIPTORS = 6;

const ANNOUNCED_BYTES = 1_000_000;
const SENT_BYTES = 20_000;

const restPost = { path: "/get_face_vec", type: MULTIPART_TYPE };
const restHeaders = http2PostHeaders(restPost);
const grpcHeaders = http2PostHeaders({
  path: "/face.v1.FaceService/GetFaceVec",
  type: "application/grpc",
});
const part = Buffer.concat([
  Buffer.from('--X\r\nContent-Disposition: form-data; name="img"; filename="a.jpg"\r\n\r\n'),
  Buffer.alloc(SENT_BYTES),
]);
const grpcPart = envelope(Buffer.alloc(SENT_BYTES), 0, ANNOUNCED_BYTES);

/** The beginning of an upload, by protocol. */
const UPLOADS = {
  "REST over HTTP/1.1": {
    alpn: "http/1.1",
    bytes: Buffer.concat([http1PostHead(restPost, ANNOUNCED_BYTES), part]),
  },
  "chunked REST over HTTP/1.1": {
    alpn: "http/1.1",
    bytes: Buffer.concat([
      http1PostHead(restPost, "chunked"),
      Buffer.from(`${ANNOUNCED_BYTES.toString(16)}\r\n`),
      part,
    ]),
  },
  "gRPC over HTTP/2": {
    alpn: "h2",
    bytes: Buffer.concat([http2Opening(), headers(1, grpcHeaders), data(1, grpcPart, false)]),
  },
  "REST over HTTP/2": {
    alpn: "h2",
    bytes: Buffer.concat([http2Opening(), headers(1, restHeaders), data(1, part, false)]),
  },
  "ten streams over HTTP/2": {
    alpn: "h2",
    bytes: Buffer.concat([
      http2Opening(),
      ...Array.from({ length: 10 }, (_, i) => [
        headers(2 * i + 1, i % 2 ? grpcHeaders : restHeaders),
        data(2 * i + 1, (i % 2 ? grpcPart : part).subarray(0, 2_000), false),
      ]).flat(),
    ]),
  },
} as const;

/** The ways in which a client disconnects. After FIN alone it waits until the service closes its side. */
const ENDINGS: readonly ((socket: Socket) => void)[] = [
  (socket) => socket.destroy(),
  (socket) => socket.resetAndDestroy(),
  (socket) => socket.end(),
];

/** Connects, begins an upload, and disconnects. */
async function vanish(
  service: EdgeService,
  { alpn, bytes }: { readonly alpn: string; readonly bytes: Buffer },
  leave: (socket: Socket) => void,
): Promise<Socket> {
  const socket = connect({ port: service.port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  await once(socket, "connect");
  if (service.isTls) {
    const secured = connectTls({ socket, rejectUnauthorized: false, ALPNProtocols: [alpn] });
    secured.on("error", () => {}).resume();
    await once(secured, "secureConnect");
    secured.write(bytes);
  } else {
    socket.resume().write(bytes);
  }
  // Time for the service to start the request.
  await sleep(20);
  leave(socket);
  return socket;
}

/** What a service holds open. */
interface OpenResources {
  readonly connections: number;
  readonly descriptors: number;
  readonly requests: number;
  /** Requests whose work goes on. */
  readonly running: number;
  readonly closeWait: number;
}

async function openResources(service: EdgeService): Promise<OpenResources> {
  return {
    requests: await service.requestsInFlight(),
    running: await service.requestsRunning(),
    connections: await service.connections(),
    descriptors: service.descriptors(),
    closeWait: service.closeWaitSockets(),
  };
}

describe.each([
  ["in clear text", { tls: false }, CLIENTS],
  ["under TLS", { tls: true }, TLS_CLIENTS],
])("%s", (_name, options, count) => {
  let service: EdgeService;
  let maxDescriptors: number;
  beforeAll(async () => {
    service = await startEdgeService({}, options);
    maxDescriptors = service.descriptors() + SPARE_DESCRIPTORS;
  });
  afterAll(() => service.stop("SIGKILL"));

  test.each(Object.entries(UPLOADS))(
    "clients that disappear during %s leave nothing open",
    async (_, upload) => {
      const sockets: Socket[] = [];
      let started = 0;
      const lane = async () => {
        while (started < count) {
          const leave = ENDINGS[started++ % ENDINGS.length]!;
          sockets.push(await vanish(service, upload, leave));
        }
      };
      await Promise.all(Array.from({ length: PARALLEL_CLIENTS }, lane));
      const isFree = ({ requests, running, connections, closeWait, descriptors }: OpenResources) =>
        requests + running + connections + closeWait === 0 && descriptors <= maxDescriptors;
      const { descriptors, ...open } = await until(() => openResources(service), isFree, SETTLE_MS);
      for (const socket of sockets) socket.destroy();
      expect(open).toEqual({ requests: 0, running: 0, connections: 0, closeWait: 0 });
      expect(descriptors).toBeLessThanOrEqual(maxDescriptors);
      expect(service.isAlive).toBe(true);
    },
  );

  test.runIf(!options.tls)("every protocol still works", async () => {
    const [, photo] = await createSeedImages();
    expect(await findUnavailable(service.port, USER, photo!)).toEqual([]);
  });

  test("SIGTERM ends the service within 10 s", async () => {
    const endings = Array.from({ length: 30 }, (_, i) => ENDINGS[i % ENDINGS.length]!);
    const uploads = Object.values(UPLOADS);
    await Promise.all(endings.map((leave, i) => vanish(service, uploads[i % uploads.length]!, leave)));
    expect(await service.terminate(10_000), "milliseconds until its end").toBeDefined();
    expect(await service.exitCode).toBe(0);
  });
});
