// Changes whose client leaves between their start line and their commit.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { readAudit } from "../support/audit.ts";
import {
  createGalleryClient,
  embeddingSource,
  enrol,
  type GalleryClient,
  MODEL,
  type TestPerson,
  testPeople,
} from "../support/galleries.ts";
import { startTestService, USER } from "../support/service.ts";

const WAIT = { timeout: 20_000 };
const [ANN, BEN] = testPeople(2, 1) as [TestPerson, TestPerson];

const dataDir = mkdtempSync(join(tmpdir(), "visage-audit-cancellation-"));
const audit = join(dataDir, "audit.jsonl");
let service: RunningService;
let client: GalleryClient;
beforeAll(async () => {
  service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_AUDIT: audit });
  client = createGalleryClient(service, USER);
});
afterAll(async () => {
  await service.close();
  rmSync(dataDir, { recursive: true });
});

/** A change of the gallery `id`, which has Ann, over both protocols. */
interface Change {
  grpc(id: string, options: { headers: Record<string, string>; signal: AbortSignal }): Promise<unknown>;
  readonly rest: (id: string) => readonly [verb: string, path: string, body?: string];
  /** Reads whether the change is stored. */
  readonly isStored: (id: string) => Promise<boolean>;
}

const benLine = { personId: BEN.personId, embedding: { values: BEN.values, model: MODEL } };
const hasGallery = (galleryId: string) =>
  client.getGallery({ galleryId }).then(
    () => true,
    () => false,
  );
const peopleOf = async (galleryId: string) => (await client.listPeople({ galleryId })).people;

const CHANGES: Readonly<Record<string, Change>> = {
  CreateGallery: {
    grpc: (id, options) => client.createGallery({ galleryId: `${id}-new` }, options),
    rest: (id) => ["POST", "", JSON.stringify({ galleryId: `${id}-new` })],
    isStored: (id) => hasGallery(`${id}-new`),
  },
  EnrolFace: {
    grpc: (id, options) =>
      client.enrolFace(
        { galleryId: id, personId: BEN.personId, source: embeddingSource(BEN.values) },
        options,
      ),
    rest: (id) => [
      "POST",
      `/${id}/people/${BEN.personId}/faces`,
      JSON.stringify({ source: { embedding: benLine.embedding } }),
    ],
    isStored: async (id) => (await peopleOf(id)).length === 2,
  },
  ImportFaces: {
    grpc: (id, options) =>
      client.importFaces(
        (async function* () {
          yield { galleryId: id, ...benLine };
        })(),
        options,
      ),
    rest: (id) => ["POST", `/${id}:import`, `${JSON.stringify(benLine)}\n`],
    isStored: async (id) => (await peopleOf(id)).length === 2,
  },
  UpdatePerson: {
    grpc: (id, options) =>
      client.updatePerson({ galleryId: id, personId: ANN.personId, displayName: "Ann" }, options),
    rest: (id) => ["PATCH", `/${id}/people/${ANN.personId}`, JSON.stringify({ displayName: "Ann" })],
    isStored: async (id) => (await peopleOf(id))[0]!.displayName === "Ann",
  },
  DeletePerson: {
    grpc: (id, options) => client.deletePerson({ galleryId: id, personId: ANN.personId }, options),
    rest: (id) => ["DELETE", `/${id}/people/${ANN.personId}`],
    isStored: async (id) => (await peopleOf(id)).length === 0,
  },
  DeleteGallery: {
    grpc: (id, options) => client.deleteGallery({ galleryId: id }, options),
    rest: (id) => ["DELETE", `/${id}`],
    isStored: async (id) => !(await hasGallery(id)),
  },
};

type Send = (
  change: Change,
  id: string,
  headers: Record<string, string>,
  signal: AbortSignal,
) => Promise<unknown>;

const PROTOCOLS: Readonly<Record<string, Send>> = {
  gRPC: (change, id, headers, signal) => change.grpc(id, { headers, signal }),
  REST: (change, id, headers, signal) => {
    const [method, path, body] = change.rest(id);
    const url = `http://127.0.0.1:${service.port}/v1/galleries${path}`;
    return fetch(url, { method, headers: { "x-api-key": USER, ...headers }, body: body ?? null, signal });
  },
};

/** Keeps others from writing to the database, and returns a function that lets them. */
function lockDatabase(): () => void {
  const database = new Database(join(dataDir, "accounts.db"));
  onTestFinished(() => void database.close());
  database.exec("begin immediate");
  return () => void database.exec("rollback");
}

let requests = 0;

/** Sends a change whose client leaves after its start line. Returns how to read its lines, and how to let it go on. */
async function leave(send: Send, change: Change) {
  const id = `g${++requests}`;
  const requestId = `left-${requests}`;
  await client.createGallery({ galleryId: id });
  await enrol(client, id, ANN);
  const lines = () => readAudit(audit, requestId).map(({ phase, outcome }) => [phase, outcome]);
  const unlock = lockDatabase();
  const leaving = new AbortController();
  const sending = send(change, id, { "x-request-id": requestId }, leaving.signal);
  await expect.poll(lines, WAIT).toEqual([["start", undefined]]);
  leaving.abort();
  await expect(sending).rejects.toThrow("aborted");
  await expect.poll(() => service.status().requestsInFlight, WAIT).toBe(0);
  expect(lines()).toHaveLength(1);
  return { lines, unlock, isStored: () => change.isStored(id) };
}

describe.each(Object.entries(PROTOCOLS))("a change over %s whose client leaves", (_, send) => {
  test.each(Object.entries(CHANGES))("is audited as ok if it is stored: %s", async (_name, change) => {
    const { lines, unlock, isStored } = await leave(send, change);
    unlock();
    await expect.poll(lines, WAIT).toEqual([
      ["start", undefined],
      ["end", "ok"],
    ]);
    expect(await isStored()).toBe(true);
  });

  test("is audited as canceled if it cannot be stored", async () => {
    const { lines, unlock, isStored } = await leave(send, CHANGES.EnrolFace!);
    // The service gives up after five seconds.
    await expect.poll(lines, WAIT).toEqual([
      ["start", undefined],
      ["end", "CANCELED"],
    ]);
    unlock();
    expect(await isStored()).toBe(false);
  }, 60_000);
});
