import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/** The certificate of a client. */
export interface ClientCertificate {
  /** Its common name; undefined if the certificate is not trusted or does not have exactly one. */
  readonly subject: string | undefined;
}

interface Verified extends ClientCertificate {
  readonly validToMs: number;
}

/** By connection: parsing a certificate takes longer than the rest of admission. */
const verified = new WeakMap<object, Verified | "none">();

const UNTRUSTED: ClientCertificate = { subject: undefined };

/** Returns the client certificate of a connection, if it has one. A certificate that has expired is not trusted. */
export function clientCertificateOf(socket: Socket | undefined): ClientCertificate | undefined {
  // A request whose connection has ended may have no socket.
  if (!socket || !("getPeerCertificate" in socket)) return undefined;
  let certificate = verified.get(socket);
  if (!certificate) {
    certificate = readCertificate(socket as TLSSocket);
    verified.set(socket, certificate);
  }
  if (certificate === "none") return undefined;
  return Date.now() < certificate.validToMs ? certificate : UNTRUSTED;
}

function readCertificate(socket: TLSSocket): Verified | "none" {
  const certificate = socket.getPeerCertificate();
  // Not by `authorized`: it is true for a resumed session without a certificate.
  if (!certificate?.raw) return "none";
  // The type does not say that a name with several values is a list, and that the subject may have none.
  const name: unknown = certificate.subject?.CN;
  const isValid = socket.authorized && typeof name === "string" && name !== "";
  return { subject: isValid ? name : undefined, validToMs: Date.parse(certificate.valid_to) };
}
