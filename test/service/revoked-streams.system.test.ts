// Exports and imports of users who may no longer be served. Those of images are in stream-accounts.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import type { AccountStore, User } from "../../src/accounts/account-store.ts";
import { hashKey } from "../../src/accounts/key.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { MAX_ENROLMENT_BATCH } from "../../src/galleries/gallery-store.ts";
import type { RunningService } from "../../src/main.ts";
import { RECHECK_INTERVAL_MS } from "../../src/service/recheck-caller.ts";
import { addTestUser } from "../support/accounts.ts";
import { createGalleryClient, type GalleryClient, MODEL, testPeople } from "../support/galleries.ts";
import { OPEN_STREAM } from "../support/image-streams.ts";
import { startTestService } from "../support/service.ts";

/** An export of all of them does not fit into the buffers of a connection. */
const PEOPLE = testPeople(6_000, 1);
const galleryId = "g";

let service: RunningService;
/** The accounts of the service, opened as another process would. */
let store: AccountStore;
const dataDir = mkdtempSync(join(tmpdir(), "visage-revoked-streams-"));
beforeAll(async () => {
  service = await startTestService({ VISAGE_DATA_DIR: dataDir });
  store = await openAccountStore({ databaseUrl: undefined, dataDir });
});
afterAll(async () => {
  await store.close();
  await service.close();
  rmSync(dataDir, { recursive: true });
});

let users = 0;
let key: string;
let user: User;
let client: GalleryClient;
beforeEach(async () => {
  key = `revoked-user-${++users}`;
  user = await addTestUser(store, key);
  client = createGalleryClient(service, key);
  await client.createGallery({ galleryId });
});

/** What an administrator does, and the reason of the errors that the user gets then. */
const CHANGES = {
  "is disabled": ["UNKNOWN_USER", () => store.updateUser(user.id, { enabled: false })],
  "is deleted": ["UNKNOWN_USER", () => store.removeUser(user.id)],
  "loses the key": ["UNKNOWN_USER", () => store.removeKey(hashKey(key))],
  "loses the permission": [
    "PURPOSE_DISABLED",
    () => store.updatePlan(key, { off: ["read", "enrol", "export"] }),
  ],
  "has no subscription any more": [
    "NO_SUBSCRIPTION",
    () => store.updateUser(user.id, { endsAt: new Date("2021-01-01T00:00:00Z") }),
  ],
} as const satisfies Record<string, readonly [string, () => Promise<unknown>]>;

/** The reason of an error, or of the error that a response states. */
function reasonOf(fault: unknown): string | undefined {
  return ConnectError.from(fault).findDetails(ErrorInfoSchema)[0]?.reason;
}

/** Waits until a new call is rejected, and returns why. */
function untilRejected(): Promise<string | undefined> {
  return vi.waitFor(
    async () => {
      const fault: unknown = await client.getGallery({ galleryId }).catch((error: unknown) => error);
      expect(fault).toBeInstanceOf(ConnectError);
      expect([Code.Unauthenticated, Code.PermissionDenied]).toContain((fault as ConnectError).code);
      return reasonOf(fault);
    },
    { timeout: 20_000, interval: 200 },
  );
}

async function* facesOf(pauseAt = -1, pause?: () => Promise<unknown>) {
  for (const [i, { values, ...ids }] of PEOPLE.entries()) {
    if (i === pauseAt) await pause!();
    yield { galleryId, ...ids, embedding: { values, model: MODEL } };
  }
}

async function* linesOf(...pause: Parameters<typeof facesOf>) {
  for await (const face of facesOf(...pause)) yield `${JSON.stringify(face)}\n`;
}

const url = (operation: string) => `http://127.0.0.1:${service.port}/v1/galleries/${galleryId}:${operation}`;
const headers = () => ({ "x-api-key": key });

/** Makes the change, and waits until the service knows it and checks streams again. */
async function revoke(change: keyof typeof CHANGES): Promise<void> {
  const [reason, apply] = CHANGES[change];
  await apply();
  expect(await untilRejected()).toBe(reason);
  await delay(RECHECK_INTERVAL_MS);
}

/** Makes the change when the first batch of an import is stored. */
async function revokeAfterBatch(change: keyof typeof CHANGES): Promise<void> {
  const faceCount = async () => (await client.getGallery({ galleryId })).gallery!.faceCount;
  await vi.waitFor(async () => expect(await faceCount()).toBe(MAX_ENROLMENT_BATCH), { timeout: 20_000 });
  await revoke(change);
}

/** A change of the user, and one of its plan only. */
const KINDS = ["is disabled", "loses the permission"] as const;

describe.each(KINDS)("a user who %s meanwhile", (change) => {
  const [reason] = CHANGES[change];

  test("gets no further faces of an export over gRPC", async () => {
    await client.importFaces(facesOf());
    const faces = client.exportGallery({ galleryId })[Symbol.asyncIterator]();
    await faces.next();
    await revoke(change);
    let count = 1;
    const read = async () => {
      while (!(await faces.next()).done) count++;
    };
    expect(reasonOf(await read().catch((error: unknown) => error))).toBe(reason);
    expect(count).toBeLessThan(PEOPLE.length);
  });

  test("gets no further faces of an export over plain HTTP", async () => {
    await client.importFaces(facesOf());
    const response = await fetch(url("export"), { headers: headers() });
    await revoke(change);
    const lines = (await response.text()).trim().split("\n");
    expect(lines.length).toBeLessThan(PEOPLE.length);
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ error: { reason } });
  });

  test("enrols no further faces by an import over plain HTTP", async () => {
    const lines = linesOf(MAX_ENROLMENT_BATCH + 1, () => revokeAfterBatch(change));
    const response = await fetch(url("import"), {
      method: "POST",
      headers: headers(),
      body: Readable.from(lines) as unknown as ReadableStream,
      duplex: "half",
    } as RequestInit);
    expect(await response.json()).toMatchObject({
      reason,
      message: expect.stringContaining(`The first ${MAX_ENROLMENT_BATCH} faces are stored.`),
    });
  });
});

test.each(Object.keys(CHANGES) as (keyof typeof CHANGES)[])(
  "a user who %s meanwhile enrols no further faces by an import over gRPC",
  async (change) => {
    const importing = client.importFaces(facesOf(MAX_ENROLMENT_BATCH + 1, () => revokeAfterBatch(change)));
    expect(reasonOf(await importing.catch((error: unknown) => error))).toBe(CHANGES[change][0]);
  },
);

describe("a user who sends nothing more", () => {
  /** Never resolves: the client neither sends another message nor ends its body. */
  const silence = () => new Promise<never>(() => {});

  const cases = KINDS.flatMap((change) =>
    ["gRPC", "plain HTTP"].map((protocol) => [change, protocol] as const),
  );
  test.each(cases)("and %s gets the error of an import over %s", async (change, protocol) => {
    const [reason] = CHANGES[change];
    const pause = async () => {
      await revokeAfterBatch(change);
      await silence();
    };
    if (protocol === "gRPC") {
      const importing = client.importFaces(facesOf(MAX_ENROLMENT_BATCH + 1, pause));
      expect(reasonOf(await importing.catch((error: unknown) => error))).toBe(reason);
      return;
    }
    const request = requestHttp(url("import"), { method: "POST", headers: headers() });
    const lines = Readable.from(linesOf(MAX_ENROLMENT_BATCH + 1, pause)).pipe(request.on("error", () => {}));
    const [response] = (await once(request, "response")) as [IncomingMessage];
    expect(await json(response)).toMatchObject({ reason });
    lines.destroy();
  });

  test.each(Object.keys(OPEN_STREAM))(
    "and is disabled loses the stream of images over %s",
    async (protocol) => {
      const stream = OPEN_STREAM[protocol]!({ port: service.port, user: key });
      await vi.waitFor(() => expect(service.status().requestsInFlight).toBeGreaterThan(0));
      await CHANGES["is disabled"][1]();
      expect(await stream.ended).toBe("UNKNOWN_USER");
      stream.close();
    },
  );
});

test("a user whose rate and quota are used up gets the rest of an export", async () => {
  const limited = await addTestUser(store, `${key}-limited`, {
    requestsPerMonth: 3,
    requestsPerSecond: 1_000,
    burst: 1_000,
  });
  const other = createGalleryClient(service, limited.name);
  await other.createGallery({ galleryId });
  await other.importFaces(facesOf());
  const faces = other.exportGallery({ galleryId })[Symbol.asyncIterator]();
  await faces.next();
  const rejected = () => other.getGallery({ galleryId }).catch((error: unknown) => error);
  expect(reasonOf(await rejected())).toBe("TOO_MANY_IN_FLIGHT");
  await delay(RECHECK_INTERVAL_MS);
  let count = 1;
  while (!(await faces.next()).done) count++;
  expect(count).toBe(PEOPLE.length);
});
