import { connect, type Socket } from "node:net";

/** A response as it was received. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Concatenates text and bytes. */
export function bytesOf(...pieces: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece)));
}

/** Makes a POST with these header lines and body; adds Host, Content-Length and `Connection: close`. */
export function postBytes(target: string, headers: readonly string[], body: string | Uint8Array): Buffer {
  const length = Buffer.byteLength(body);
  const lines = [`POST ${target} HTTP/1.1`, "Host: test", "Connection: close", `Content-Length: ${length}`];
  return bytesOf([...lines, ...headers, "", ""].join("\r\n"), body);
}

/** Opens a socket to a local port. */
export function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket));
    socket.once("error", reject);
  });
}

/** Sends bytes without a client library, which might correct them, and reads the first final response. */
export async function sendRaw(port: number, request: Uint8Array): Promise<RawResponse> {
  const socket = await openSocket(port);
  socket.write(request);
  try {
    return await readResponse(socket);
  } finally {
    socket.destroy();
  }
}

/** Reads one response after any `100 Continue`, up to its content length or else the end of the connection. */
export function readResponse(socket: Socket): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const settle = (ended: boolean) => {
      const response = parseResponse(received, ended);
      if (response) resolve(response);
      else if (ended) reject(new Error(`The connection ended after: ${received.toString("latin1")}`));
    };
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      settle(false);
    });
    socket.on("error", () => settle(true)).on("close", () => settle(true));
  });
}

function parseResponse(bytes: Buffer, ended: boolean): RawResponse | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first, ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const status = Number(first!.split(" ")[1]);
  const rest = bytes.subarray(end + 4);
  if (status === 100) return parseResponse(rest, ended);
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(":")).toLowerCase(),
      line.slice(line.indexOf(":") + 1).trim(),
    ]),
  );
  const length = headers["content-length"];
  if (!ended && (length === undefined || rest.length < Number(length))) return undefined;
  return { status, headers, body: rest.toString() };
}
