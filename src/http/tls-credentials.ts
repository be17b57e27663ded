import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";

/** What a TLS port proves and accepts, all as PEM. */
export interface TlsCredentials {
  /** The certificate of the service, followed by its intermediates. */
  readonly cert: string;
  readonly key: string;
  /** The authorities of client certificates; undefined if clients are not asked for a certificate. */
  readonly ca?: string | undefined;
}

/** The files of the credentials. The port speaks cleartext without a certificate and key. */
export interface TlsFiles {
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly tlsClientCa: string | undefined;
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs;

/** Reads the configured files, if there are any. Throws if one is invalid or certificate and key do not match. */
export async function readTlsCredentials(files: TlsFiles): Promise<TlsCredentials | undefined> {
  const { tlsCert, tlsKey, tlsClientCa } = files;
  if (!tlsCert || !tlsKey) return undefined;
  const pair = await withSettingNames("VISAGE_TLS_CERT and VISAGE_TLS_KEY", async () => {
    const [cert, key] = await Promise.all([readFile(tlsCert, "utf8"), readFile(tlsKey, "utf8")]);
    // A secure context accepts empty files, so parse both first.
    new X509Certificate(cert);
    createPrivateKey(key);
    createSecureContext({ cert, key });
    return { cert, key };
  });
  if (!tlsClientCa) return pair;
  const ca = await withSettingNames("VISAGE_TLS_CLIENT_CA", () => readAuthorities(tlsClientCa));
  return { ...pair, ca };
}

/** Reads certificates of authorities. A file without one would make every client certificate untrusted. */
async function readAuthorities(path: string): Promise<string> {
  const text = await readFile(path, "utf8");
  const blocks = text.match(PEM_CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new Error(`${path} has no certificate`);
  for (const block of blocks) new X509Certificate(block);
  // Rejects a block that is cut off.
  createSecureContext({ ca: text });
  return text;
}

async function withSettingNames<T>(names: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new Error(`${names} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}
