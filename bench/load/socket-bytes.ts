import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

/** Bytes on the connections of a client, with HTTP heads, without TLS and TCP. */
export interface SocketBytes {
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/** Counts the bytes of all connections that undici opens in this process from now on. */
export function countSocketBytes(): () => SocketBytes {
  const sockets: Socket[] = [];
  subscribe("undici:client:connected", (message) => {
    sockets.push((message as { readonly socket: Socket }).socket);
  });
  const sum = (bytesOf: (socket: Socket) => number) =>
    sockets.reduce((total, one) => total + bytesOf(one), 0);
  return () => ({
    bytesSent: sum((socket) => socket.bytesWritten),
    bytesReceived: sum((socket) => socket.bytesRead),
  });
}
