import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a proxy does with a request instead of passing it on. */
export type Fault = (incoming: IncomingMessage, response: ServerResponse) => void;

/** A proxy in front of a service, with faults. */
export interface FaultyProxy {
  readonly port: number;
  /** Sets what happens to the following POST requests; undefined passes them on. */
  setFault(fault: Fault | undefined): void;
  close(): Promise<void>;
}

/** Starts a proxy in front of the service on a port. */
export async function startFaultyProxy(target: { readonly port: number }): Promise<FaultyProxy> {
  let fault: Fault | undefined;
  const server = createServer((incoming, response) => {
    if (fault && incoming.method === "POST") return fault(incoming, response);
    const { method, url, headers } = incoming;
    const outgoing = request(
      { host: "127.0.0.1", port: target.port, method, path: url, headers },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      },
    );
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    setFault: (next) => {
      fault = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with the page of a proxy, as nginx writes it. */
export function answerWithPage(status: number, title: string): Fault {
  return (incoming, response) => {
    incoming.resume();
    incoming.on("end", () => {
      response.writeHead(status, { "content-type": "text/html" });
      response.end(`<html><head><title>${status} ${title}</title></head><body>nginx</body></html>`);
    });
  };
}

/** Reads the request and never answers. */
export const neverAnswer: Fault = (incoming) => {
  incoming.resume();
};
