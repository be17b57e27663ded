import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type DescMethodUnary, toBinary, toJsonString } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { addTestUser, newKey } from "../support/accounts.ts";
import { readAudit } from "../support/audit.ts";
import { execute, hasPostgres, lockTables, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { ADMIN_KEY, startTestService } from "../support/service.ts";
import { createRestClient } from "../support/unary-clients.ts";

const WAIT = { timeout: 20_000 };

let postgres: TestPostgres;
let service: RunningService;
let store: AccountStore;
let folder: string;
let audit: string;
const lines: string[] = [];
beforeAll(async () => {
  if (!hasPostgres) return;
  postgres = await startPostgres();
  const log = createLog("info", {
    write: (line) => void lines.push(line),
    dropped: 0,
    flush: async () => {},
  });
  folder = mkdtempSync(join(tmpdir(), "visage-cancelled-"));
  audit = join(folder, "audit.jsonl");
  const settings = {
    VISAGE_DATABASE_URL: postgres.url,
    VISAGE_ADMIN_KEY: ADMIN_KEY,
    VISAGE_AUDIT: audit,
  };
  service = await startTestService(settings, log);
  store = await openAccountStore({ databaseUrl: postgres.url, dataDir: "" });
});
afterAll(async () => {
  await store?.close();
  await service?.close();
  await postgres?.remove();
  if (folder) rmSync(folder, { recursive: true });
});

/** A call on behalf of a user, and what it changes. Its key is also its name. */
interface Call {
  readonly method: DescMethodUnary;
  readonly request: (key: string) => Record<string, unknown>;
  readonly isAdmin?: true;
  /** Whether the call has changed what is stored. */
  readonly hasChanged: (key: string) => Promise<boolean>;
}

const otherKey = (key: string) => `${key}-other`;
const userOf = async (key: string) => (await store.findUsers(key))[0];
const countKeys = async (key: string) => (await store.listKeys((await userOf(key))!.id)).length;
const { method: account } = AccountService;
const { method: admin } = AdminService;

/** Users have two keys. */
const CALLS: Readonly<Record<string, Call>> = {
  GetAccount: { method: account.getAccount, request: () => ({}), hasChanged: async () => false },
  CreateKey: {
    method: account.createKey,
    request: () => ({}),
    hasChanged: async (key) => (await countKeys(key)) === 3,
  },
  DeleteKey: {
    method: account.deleteKey,
    request: (key) => ({ fingerprint: fingerprintOf(hashKey(otherKey(key))) }),
    hasChanged: async (key) => (await countKeys(key)) === 1,
  },
  ListUsers: { method: admin.listUsers, request: () => ({}), isAdmin: true, hasChanged: async () => false },
  CreateUser: {
    method: admin.createUser,
    request: (key) => ({ name: otherKey(key) }),
    isAdmin: true,
    hasChanged: async (key) => (await userOf(otherKey(key))) !== undefined,
  },
  UpdateUser: {
    method: admin.updateUser,
    request: (key) => ({ user: key, enabled: false }),
    isAdmin: true,
    hasChanged: async (key) => !(await userOf(key))!.enabled,
  },
  DeleteUser: {
    method: admin.deleteUser,
    request: (key) => ({ user: key }),
    isAdmin: true,
    hasChanged: async (key) => (await userOf(key)) === undefined,
  },
};

/** A call that was sent in part. */
interface Sending {
  sendRest(): void;
  cancel(): void;
}

/** Starts to send a call: the head and the first half of the body. */
type Start = (
  method: DescMethodUnary,
  request: Record<string, unknown>,
  headers: Record<string, string>,
) => Promise<Sending>;

const pathOf = ({ parent, name }: DescMethodUnary) => `/${parent.typeName}/${name}`;

const PROTOCOLS: Readonly<Record<string, Start>> = {
  "gRPC over HTTP/2": async (method, request, headers) => {
    const session = connectHttp2(`http://127.0.0.1:${service.port}`).on("error", () => {});
    onTestFinished(() => session.destroy());
    const stream = session.request({
      ":method": "POST",
      ":path": pathOf(method),
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    stream.on("error", () => {}).resume();
    const body = encodeEnvelope(0, toBinary(method.input, create(method.input, request)));
    stream.write(body.subarray(0, 3));
    return {
      sendRest: () => stream.end(body.subarray(3)),
      cancel: () => stream.close(constants.NGHTTP2_CANCEL),
    };
  },
  "Connect over HTTP/1.1": async (method, request, headers) => {
    const socket = connect(service.port, "127.0.0.1").on("error", () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    const body = toJsonString(method.input, create(method.input, request));
    const all = { host: "a", "content-type": "application/json", "content-length": body.length, ...headers };
    const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST ${pathOf(method)} HTTP/1.1\r\n${head.join("")}\r\n${body[0]}`);
    return { sendRest: () => socket.write(body.slice(1)), cancel: () => socket.destroy() };
  },
};

/** Waits until neither the service nor the database works on a request. */
async function settle(): Promise<void> {
  const active = "select 1 from pg_stat_activity where application_name = 'visage' and state <> 'idle'";
  await vi.waitFor(async () => {
    // A cancelled request is no longer in flight, but its work may go on.
    expect(service.status()).toMatchObject({ requestsInFlight: 0, requestsRunning: 0 });
    expect(await execute(postgres.url, active)).toEqual([]);
  }, WAIT);
}

async function holdDatabase(): Promise<() => Promise<void>> {
  const release = await lockTables(postgres.url, "users", "keys");
  onTestFinished(release);
  return release;
}

async function expectBlocked(): Promise<void> {
  const blocked = "select 1 from pg_stat_activity where wait_event_type = 'Lock'";
  await vi.waitFor(async () => expect(await execute(postgres.url, blocked)).not.toEqual([]), WAIT);
}

const clientOf = (key: string) => createRestClient(service.port, { authorization: `Bearer ${key}` });

/** The points at which a call is cancelled. */
const POINTS: Readonly<Record<string, (key: string, start: () => Promise<Sending>) => Promise<void>>> = {
  "during the body": async (_, start) => {
    const sending = await start();
    await vi.waitFor(() => expect(service.status().requestsInFlight).toBe(1), WAIT);
    sending.cancel();
  },
  "during the first query": async (_, start) => {
    const release = await holdDatabase();
    const sending = await start();
    sending.sendRest();
    await expectBlocked();
    sending.cancel();
    await vi.waitFor(() => expect(service.status().requestsInFlight).toBe(0), WAIT);
    await release();
  },
  "during the change": async (key, start) => {
    // The account is cached now, so the first query is that of the operation. It works again after an earlier hold.
    await vi.waitFor(() => clientOf(key).call(account.getAccount, {}), WAIT);
    const release = await holdDatabase();
    const sending = await start();
    sending.sendRest();
    await expectBlocked();
    sending.cancel();
    await release();
  },
  "right after the body": async (_, start) => {
    const sending = await start();
    sending.sendRest();
    sending.cancel();
  },
};

let users = 0;

describe.skipIf(!hasPostgres).each(Object.entries(PROTOCOLS))("over %s", (_, start) => {
  describe.each(Object.entries(CALLS))("%s", (_name, call) => {
    test.each(Object.keys(POINTS))(
      "that is cancelled %s leaves nothing open, and an audit line exactly for what it changed",
      async (point) => {
        const key = `cancelling-account-${++users}`;
        const { id } = await addTestUser(store, key);
        await store.addKey(id, newKey(hashKey(otherKey(key))));
        const requestId = `cancelled-${users}`;
        const authorization = `Bearer ${call.isAdmin ? ADMIN_KEY : key}`;
        const headers = { authorization, "x-request-id": requestId };
        await POINTS[point]!(key, () => start(call.method, call.request(key), headers));
        await settle();
        // The line follows the commit, and the service may receive the call only now.
        await vi.waitFor(async () => {
          const hasChanged = await call.hasChanged(key);
          const audited = readAudit(audit, requestId);
          expect(audited.filter(({ outcome }) => outcome === "ok")).toHaveLength(hasChanged ? 1 : 0);
          const starts = audited.filter(({ phase }) => phase === "start");
          if (starts.length > 0) expect(audited).toMatchObject([{ phase: "start" }, { phase: "end" }]);
        }, WAIT);
        await vi.waitFor(() => clientOf(ADMIN_KEY).call(admin.listPlans, {}), WAIT);
      },
      60_000,
    );
  });
});

test.skipIf(!hasPostgres)("no line of the log or the audit trail has a key", () => {
  expect(lines.length).toBeGreaterThan(0);
  for (const secret of [ADMIN_KEY, "cancelling-account", "vsg_"])
    expect(`${lines.join()}${readFileSync(audit, "utf8")}`).not.toContain(secret);
});
