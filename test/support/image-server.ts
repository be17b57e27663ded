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

/** What the fetcher takes for an image of so many bytes. */
export function jpegOf(bytes: number): Buffer {
  const image = Buffer.alloc(bytes, "image");
  image.set([0xff, 0xd8, 0xff, 0xe0]);
  return image;
}

/** A small image. */
export const IMAGE = jpegOf(1000);

/** A server on loopback that remembers what it was asked. */
export interface ImageServer {
  readonly port: number;
  /** The paths, in the order they were asked for. */
  readonly paths: string[];
  /** Every connection that was made, closed or not. */
  readonly sockets: Socket[];
}

/** Serves until the test is over; without an answer of its own it sends IMAGE. */
export function startImageServer(
  answer: RequestListener = (_, response) => response.end(IMAGE),
  { host = "127.0.0.1", port = 0 } = {},
): Promise<ImageServer> {
  return listen(createServer(answer), host, port);
}

/** Lets a server of any protocol listen until the test is over. */
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

/** Opens a fetcher, closed when the test is over, for the hosts and addresses of the list. */
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
