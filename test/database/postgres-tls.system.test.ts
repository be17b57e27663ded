import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generate } from "selfsigned";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { openPostgresDatabase } from "../../src/database/postgres-database.ts";
import { hasPostgres, type PostgresTls, startPostgres, type TestPostgres } from "../support/postgres.ts";

/** The host name in the certificate of the server. Its address is not in it. */
const HOST = "localhost";
const ADDRESS = "127.0.0.1";

describe.skipIf(!hasPostgres)("a PostgreSQL server with TLS", () => {
  let postgres: TestPostgres;
  let plain: TestPostgres;
  const folder = mkdtempSync(join(tmpdir(), "visage-database-ca-"));
  const trusted = join(folder, "ca.crt");
  const untrusted = join(folder, "other.crt");

  async function createAuthority(file: string): Promise<PostgresTls> {
    const { cert, private: key } = await generate([{ name: "commonName", value: "database authority" }], {
      algorithm: "sha256",
      extensions: [
        { name: "basicConstraints", cA: true, critical: true },
        { name: "keyUsage", keyCertSign: true, critical: true },
      ],
    });
    writeFileSync(file, cert);
    return { cert, key };
  }

  beforeAll(async () => {
    const ca = await createAuthority(trusted);
    await createAuthority(untrusted);
    const { cert, private: key } = await generate([{ name: "commonName", value: HOST }], {
      algorithm: "sha256",
      ca,
      extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: HOST }] }],
    });
    [postgres, plain] = await Promise.all([startPostgres({ cert, key }), startPostgres()]);
  });
  afterAll(async () => {
    await postgres?.remove();
    await plain?.remove();
  });

  /** Opens the database as the service does, and tells whether the connection is encrypted. */
  async function open(url: string, host: string, parameters: string): Promise<boolean> {
    const { databaseUrl } = readConfig({ VISAGE_DATABASE_URL: url.replace(ADDRESS, host) + parameters });
    const database = await openPostgresDatabase(databaseUrl!);
    try {
      const sql = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
      const [row] = await database.query({ sql });
      return row!.ssl === true;
    } finally {
      await database.close();
    }
  }

  test.each([
    ["", ADDRESS, false],
    ["?sslmode=disable", ADDRESS, false],
    ["?sslmode=require", ADDRESS, true],
    ["?sslmode=require&sslrootcert=CA", ADDRESS, true],
    ["?sslmode=verify-ca&sslrootcert=CA", ADDRESS, true],
    ["?sslmode=verify-full&sslrootcert=CA", HOST, true],
  ])("is opened with %s at %s, encrypted: %s", async (parameters, host, isEncrypted) => {
    expect(await open(postgres.url, host, parameters.replace("CA", trusted))).toBe(isEncrypted);
  });

  test.each([
    [
      "the wrong authority",
      "?sslmode=require&sslrootcert=OTHER",
      HOST,
      "unable to verify|self-signed|signature failure",
    ],
    [
      "the wrong authority",
      "?sslmode=verify-ca&sslrootcert=OTHER",
      HOST,
      "unable to verify|self-signed|signature failure",
    ],
    [
      "the wrong authority",
      "?sslmode=verify-full&sslrootcert=OTHER",
      HOST,
      "unable to verify|self-signed|signature failure",
    ],
    ["a private authority", "?sslmode=verify-full", HOST, "unable to verify|self-signed|signature failure"],
    ["the wrong host name", "?sslmode=verify-full&sslrootcert=CA", ADDRESS, "does not match certificate"],
    ["no file of authorities", "?sslmode=verify-full&sslrootcert=/no/ca.crt", HOST, "ENOENT"],
  ])("is rejected for %s: %s", async (_, parameters, host, message) => {
    const files = parameters.replace("CA", trusted).replace("OTHER", untrusted);
    await expect(open(postgres.url, host, files)).rejects.toThrow(new RegExp(message));
  });

  test("must offer TLS if the URL asks for it", async () => {
    await expect(open(plain.url, ADDRESS, "?sslmode=require")).rejects.toThrow("does not support SSL");
  });
});
