import { createServer as createHttp2Server, type IncomingHttpHeaders } from "node:http2";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { generate } from "selfsigned";

/** A proxy in front of a server on this machine. */
export interface TcpProxy {
  readonly url: string;
  /** The certificate of a proxy with TLS, in PEM; otherwise empty. */
  readonly cert: string;
  /** Lets the present connections hang for ever, as after a network has lost them. New ones work. */
  freeze(): void;
  close(): Promise<void>;
}

/** Starts a proxy of connections, which may have TLS towards its clients. */
export async function startTcpProxy(target: string, { tls = false } = {}): Promise<TcpProxy> {
  const { port } = new URL(target);
  const pairs = new Set<readonly [Socket, Socket]>();
  const accept = (client: Socket) => {
    const server = connect(Number(port), "127.0.0.1");
    const pair = [client, server] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [server, client] as const]) {
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        to.destroy();
        pairs.delete(pair);
      });
    }
  };
  const pem = tls ? await createCertificate() : undefined;
  const server = pem
    ? createTlsServer({ cert: pem.cert, key: pem.private, ALPNProtocols: ["h2"] }, accept)
    : createServer(accept);
  await listen(server);
  return {
    url: `${tls ? "https://localhost" : "http://127.0.0.1"}:${(server.address() as AddressInfo).port}`,
    cert: pem?.cert ?? "",
    freeze: () => {
      for (const [client, server] of pairs) {
        client.unpipe(server).pause();
        server.unpipe(client).pause();
      }
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const sockets of pairs) for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A server that refuses everyone, as Milvus does without the right token. */
export interface RefusingServer {
  readonly url: string;
  /** The headers of the requests. */
  readonly requests: readonly IncomingHttpHeaders[];
  close(): Promise<void>;
}

export async function startRefusingServer(): Promise<RefusingServer> {
  const requests: IncomingHttpHeaders[] = [];
  const server = createHttp2Server((request, response) => {
    requests.push(request.headers);
    request.resume();
    response.writeHead(200, {
      "content-type": "application/grpc",
      "grpc-status": "16",
      "grpc-message": "auth check failure, please check username and password are correct",
    });
    response.end();
  });
  const sessions = new Set<{ destroy(): void }>();
  server.on("session", (session) => sessions.add(session));
  await listen(server);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

async function listen(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
}

function createCertificate() {
  return generate([{ name: "commonName", value: "localhost" }], {
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] }],
  });
}
