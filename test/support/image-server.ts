import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { onTestFinished } from "vitest";
import { parseAllowList } from "../../src/fetch/allow-list.ts";
import { FetchError } from "../../src/fetch/fetch-error.ts";
import {
  createImageFetcher,
  type ImageFetcher,
  type ImageFetcherOptions,
} from "../../src/fetch/image-fetcher.ts";

/** Makes bytes that begin like a JPEG. */
export function createJpeg(bytes: number): Buffer {
  const image = Buffer.alloc(bytes, "image");
  image.set([0xff, 0xd8, 0xff, 0xe0]);
  return image;
}

/** A small image. */
export const IMAGE = createJpeg(1000);

/** A server on loopback that records its requests. */
export interface ImageServer {
  readonly port: number;
  /** The requested paths, in order. */
  readonly paths: string[];
  /** All connections, open and closed. */
  readonly sockets: Socket[];
}

/** Starts a server that is closed at the end of the test. It serves IMAGE by default. */
export function startImageServer(
  listener: RequestListener = (_, response) => response.end(IMAGE),
  { host = "127.0.0.1", port = 0 } = {},
): Promise<ImageServer> {
  return listen(createServer(listener), host, port);
}

/** Makes any server listen until the end of the test. */
export async function listen(server: Server, host = "127.0.0.1", port = 0): Promise<ImageServer> {
  const paths: string[] = [];
  const sockets: Socket[] = [];
  server.prependListener("request", ({ url }) => paths.push(url ?? ""));
  server.on("connection", (socket) => sockets.push(socket));
  server.listen(port, host);
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, paths, sockets };
}

/** Opens a fetcher with this allow list. It is closed at the end of the test. */
export function openFetcher(allow: string, options: Partial<ImageFetcherOptions> = {}): ImageFetcher {
  const fetcher = createImageFetcher({
    allow: parseAllowList(allow),
    timeoutMs: 5000,
    maxBytes: 100_000,
    ...options,
  });
  onTestFinished(() => fetcher.close());
  return fetcher;
}

/** Waits for the FetchError of a fetch that must fail. */
export async function failureOf(fetching: Promise<unknown>): Promise<FetchError> {
  const fault = await fetching.then(
    () => new Error("fetched"),
    (error: unknown) => error,
  );
  if (!(fault instanceof FetchError)) throw fault;
  return fault;
}
