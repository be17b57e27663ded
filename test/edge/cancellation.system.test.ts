import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { GetImageAttrRequestSchema } from "../../gen/ts/face/v1/face_pb.ts";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import {
  data,
  envelope,
  FRAME,
  headers,
  parseFrames,
  rstStream,
} from "../../tools/fuzz/edge/http2-frames.ts";
import { MULTIPART_TYPE, multipart, OPERATIONS } from "../../tools/fuzz/edge/requests.ts";
import { findUnavailable } from "../../tools/fuzz/edge/valid-calls.ts";
import { createSeedImages } from "../../tools/fuzz/seed-images.ts";
import { USER } from "../../tools/support/service-process.ts";
import { addTestUser } from "../support/accounts.ts";
import { type EdgeService, startEdgeService } from "../support/edge-service.ts";
import { photograph } from "../support/images.ts";
import { execute, hasPostgres, lockTables, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { admittedBytes, http1PostHead, http2Opening, http2PostHeaders } from "../support/raw-post.ts";
import { until } from "../support/until.ts";

const REQUESTS_PER_MONTH = 20;
const SETTLE_MS = 20_000;
const REACH_MS = 20_000;

/** A large photo, so that its upload and its job take some time. */
const photo = photograph(5);
const message = toBinary(
  GetImageAttrRequestSchema,
  create(GetImageAttrRequestSchema, { imageAttr: { source: { case: "content", value: photo } } }),
);
const REST_PATH = "/get_image_attr";
const RPC_PATH = "/face.v1.FaceService/GetImageAttr";
const restBody = multipart(OPERATIONS[1], photo, true);

/** A GetImageAttr call in one of the protocols. */
interface Call {
  readonly isHttp2: boolean;
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
}

const CALLS: Readonly<Record<string, Call>> = {
  "gRPC over HTTP/2": { isHttp2: true, path: RPC_PATH, type: "application/grpc", body: envelope(message) },
  "Connect over HTTP/2": {
    isHttp2: true,
    path: RPC_PATH,
    type: "application/proto",
    body: Buffer.from(message),
  },
  "Connect over HTTP/1.1": {
    isHttp2: false,
    path: RPC_PATH,
    type: "application/proto",
    body: Buffer.from(message),
  },
  "gRPC-Web over HTTP/1.1": {
    isHttp2: false,
    path: RPC_PATH,
    type: "application/grpc-web+proto",
    body: envelope(message),
  },
  "REST over HTTP/1.1": { isHttp2: false, path: REST_PATH, type: MULTIPART_TYPE, body: restBody },
  "REST over HTTP/2": { isHttp2: true, path: REST_PATH, type: MULTIPART_TYPE, body: restBody },
};

/** The ways in which a client cancels. Over HTTP/1.1 it can only close its connection. */
const CANCELLATIONS: Readonly<Record<string, (client: Client) => void>> = {
  RST_STREAM: ({ socket }) => socket.write(rstStream(1)),
  close: ({ socket }) => socket.destroy(),
  RST: ({ socket }) => socket.resetAndDestroy(),
};

/** Sends one call in parts, on its own connection. */
class Client {
  readonly socket: Socket;
  readonly #call: Call;
  readonly #user: string;
  readonly #chunks: Buffer[] = [];
  readonly #connected: Promise<unknown>;

  constructor(port: number, call: Call, user: string) {
    this.#call = call;
    this.#user = user;
    this.socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.socket.on("error", () => {}).on("data", (chunk) => this.#chunks.push(chunk));
    this.#connected = once(this.socket, "connect");
  }

  /** `window` limits what the service may send on an HTTP/2 stream. */
  async sendHead(window?: number): Promise<void> {
    await this.#connected;
    const { isHttp2, body } = this.#call;
    const post = { ...this.#call, user: this.#user };
    if (!isHttp2) {
      this.socket.write(http1PostHead(post, body.length));
      return;
    }
    this.socket.write(Buffer.concat([http2Opening(window), headers(1, http2PostHeaders(post))]));
  }

  /** Sends a part of the body that fits into the initial window of a stream. */
  sendHalf(): void {
    const { isHttp2, body } = this.#call;
    const part = body.subarray(0, Math.min(30_000, body.length / 2));
    this.socket.write(isHttp2 ? data(1, part, false) : part);
  }

  /** Sends the whole body, as fast as flow control admits. */
  async sendBody(): Promise<void> {
    const { isHttp2, body } = this.#call;
    if (!isHttp2) {
      this.socket.write(body);
      return;
    }
    for (let sent = 0; sent < body.length; ) {
      const window = await until(
        () => this.#admitted() - sent,
        (bytes) => bytes > 0,
        REACH_MS,
      );
      if (window <= 0) throw new Error("The service does not enlarge its flow-control window.");
      const part = body.subarray(sent, sent + window);
      sent += part.length;
      this.socket.write(data(1, part, sent === body.length));
    }
  }

  hasResponse(): boolean {
    const received = Buffer.concat(this.#chunks);
    if (!this.#call.isHttp2) return received.length > 0;
    return parseFrames(received).some(({ type }) => type === FRAME.headers);
  }

  /** The bytes that flow control has admitted so far. */
  #admitted(): number {
    const { connection, onStream } = admittedBytes(Buffer.concat(this.#chunks));
    return Math.min(connection, onStream(1));
  }
}

interface Store {
  start(): Promise<void>;
  stop(): Promise<void>;
  readonly settings: () => Readonly<Record<string, string>>;
  readonly open: (dataDir: string) => Promise<AccountStore>;
  /** Blocks all account lookups until the returned function is called. */
  readonly hold: () => Promise<() => Promise<void>>;
  readonly isHeld: () => Promise<boolean>;
}

let postgres: TestPostgres;
const STORES: Readonly<Record<string, Store>> = {
  SQLite: {
    start: async () => {},
    stop: async () => {},
    settings: () => ({}),
    open: (dataDir) => openAccountStore({ databaseUrl: undefined, dataDir: dataDir }),
    // Lookups in SQLite are synchronous and cannot be blocked.
    hold: async () => async () => {},
    isHeld: async () => true,
  },
  PostgreSQL: {
    start: async () => {
      postgres = await startPostgres();
    },
    stop: () => postgres.remove(),
    settings: () => ({ VISAGE_DATABASE_URL: postgres.url }),
    open: () => openAccountStore({ databaseUrl: postgres.url, dataDir: "" }),
    hold: () => lockTables(postgres.url, "users"),
    isHeld: async () => {
      const waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock'";
      return (await execute(postgres.url, waiting)).length > 0;
    },
  },
};

describe.each(Object.entries(STORES).filter(([name]) => name !== "PostgreSQL" || hasPostgres))(
  "with %s",
  (_, store) => {
    let service: EdgeService;
    let accounts: AccountStore;
    let small: Buffer;
    let users = 0;
    const startService = async () => {
      // A call in the queue must not be rejected before it is cancelled.
      service = await startEdgeService({ VISAGE_MAX_QUEUE_WAIT_MS: "60000", ...store.settings() });
      accounts = await store.open(service.dataDir);
    };
    const stopService = async () => {
      await accounts?.close();
      await service?.stop("SIGKILL");
    };
    beforeAll(async () => {
      small = (await createSeedImages())[1]!;
      await store.start();
      await startService();
    });
    // A failed test must not affect the next one.
    beforeEach(async () => {
      if (service.isAlive && (await service.requestsInFlight().catch(() => 1)) === 0) return;
      await stopService();
      await startService();
    });
    afterAll(async () => {
      await stopService();
      await store.stop();
    });

    const gauge = async (name: string) => (await service.metrics()).value(name);
    /** Waits until the call has reached a stage. */
    const reach = async (stage: string, hasReached: () => Promise<boolean>) => {
      if (!(await until(hasReached, (reached) => reached, REACH_MS)))
        throw new Error(`The call never was ${stage}.`);
    };
    const idle = async () => {
      expect(await service.waitUntilIdle(SETTLE_MS), "requests in flight").toBe(0);
    };

    /** Each brings a call to a stage and cancels it there. */
    const POINTS: Readonly<Record<string, (client: Client, cancel: () => void) => Promise<void>>> = {
      "during the account lookup": async (client, cancel) => {
        const release = await store.hold();
        try {
          await client.sendHead();
          await reach("in the lookup", store.isHeld);
          cancel();
        } finally {
          await release();
        }
      },
      "during the body": async (client, cancel) => {
        await client.sendHead();
        client.sendHalf();
        await reach("in flight", async () => (await service.requestsInFlight()) > 0);
        cancel();
      },
      "in the queue": async (client, cancel) => {
        const blocker = new Client(service.port, CALLS["REST over HTTP/1.1"]!, USER);
        const [worker] = service.workerPids();
        process.kill(worker!, "SIGSTOP");
        try {
          await blocker.sendHead();
          await blocker.sendBody();
          await reach("behind another", async () => (await gauge("visage_workers_busy")) > 0);
          await client.sendHead();
          await client.sendBody();
          await reach("in the queue", async () => (await gauge("visage_queue_depth")) > 0);
          cancel();
        } finally {
          process.kill(worker!, "SIGCONT");
          blocker.socket.destroy();
        }
      },
      "in the worker": async (client, cancel) => {
        // A stopped worker holds the job for as long as it takes to see it there.
        const [worker] = service.workerPids();
        process.kill(worker!, "SIGSTOP");
        try {
          await client.sendHead();
          await client.sendBody();
          await reach("in the worker", async () => (await gauge("visage_workers_busy")) > 0);
          cancel();
        } finally {
          process.kill(worker!, "SIGCONT");
        }
      },
      "during the response": async (client, cancel) => {
        // Over HTTP/2 the client's window is 0, so that the body of the response cannot be sent.
        await client.sendHead(0);
        await client.sendBody();
        await reach("answered", async () => client.hasResponse());
        cancel();
      },
    };

    /** Sends one valid request more than the quota. Returns the number of successes and the codes of the errors. */
    async function spendMonth(user: string): Promise<{ succeeded: number; codes: string[] }> {
      const codes: string[] = [];
      let left = REQUESTS_PER_MONTH + 1;
      const lane = async () => {
        while (left-- > 0) {
          const response = await fetch(`http://127.0.0.1:${service.port}/get_face_vec`, {
            method: "POST",
            headers: { user_id: user, "content-type": MULTIPART_TYPE },
            body: new Uint8Array(multipart(OPERATIONS[0], small)),
          });
          codes.push(((await response.json()) as { code: string }).code);
        }
      };
      await Promise.all([lane(), lane(), lane()]);
      const failed = codes.filter((code) => code !== "1000");
      return { succeeded: codes.length - failed.length, codes: [...new Set(failed)] };
    }

    describe.each(Object.entries(CALLS))("%s", (_name, call) => {
      test.each(Object.keys(POINTS))(
        "a call that is cancelled %s leaves nothing open and costs no quota",
        async (point) => {
          const { pid } = service;
          const ways = Object.values(CANCELLATIONS).slice(call.isHttp2 ? 0 : 1);
          // Accounts are cached, so each lookup needs another user.
          const groups = point === "during the account lookup" ? ways.map((way) => [way]) : [ways];
          for (const group of groups) {
            const user = `cancelling-user-${++users}`;
            await addTestUser(accounts, user, { requestsPerMonth: REQUESTS_PER_MONTH });
            for (const cancel of group) {
              const client = new Client(service.port, call, user);
              await POINTS[point]!(client, () => cancel(client));
              await idle();
              client.socket.destroy();
            }
            expect([service.isAlive, service.pid]).toEqual([true, pid]);
            const { succeeded, codes } = await spendMonth(user);
            // A call that is being answered has succeeded, whether or not the client reads the response.
            const minSucceeded = REQUESTS_PER_MONTH - (point === "during the response" ? group.length : 0);
            expect(succeeded).toBeGreaterThanOrEqual(minSucceeded);
            expect(succeeded).toBeLessThanOrEqual(REQUESTS_PER_MONTH);
            // The last request may come while others have reserved the rest of the quota.
            expect(["4004", "4006"], "errors beyond the quota").toEqual(expect.arrayContaining(codes));
            expect(codes).not.toEqual([]);
          }
        },
      );
    });

    test("every protocol still works", async () => {
      await idle();
      expect(await findUnavailable(service.port, USER, small)).toEqual([]);
    });
  },
);
