import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { freePort } from "../bench/free-port.ts";
import { DEFAULT_MODELS_DIR } from "../models/manifest.ts";
import { createGate, type Gate } from "../src/accounts/gate.ts";
import { createDoor } from "../src/admission.ts";
import { openAnalyzer } from "../src/core/index.ts";
import { parseAllowList } from "../src/fetch/allow-list.ts";
import { createImageFetcher } from "../src/fetch/image-fetcher.ts";
import { createLog } from "../src/ops/log.ts";
import { warmUp } from "../src/warm-up.ts";
import { createWires } from "../src/wires.ts";
import { openTestStore, storedCount } from "./support/accounts.ts";

test("the warm-up reads accounts, asks the port and is answered by an operation, and nobody is charged", async () => {
  const asked: string[] = [];
  const store = await openTestStore();
  const gate = createGate({
    store: {
      findAccount: (...account) => {
        asked.push("account");
        return store.findAccount(...account);
      },
      addUsage: (...usage) => store.addUsage(...usage),
    },
    graceMs: 0,
    onTrouble: (trouble) => expect.fail(String(trouble)),
  });
  const analyzer = await openAnalyzer({ modelsDir: DEFAULT_MODELS_DIR });
  onTestFinished(() => analyzer.close());
  const wires = createWires({
    analyzer: {
      ...analyzer,
      embed: (...call) => {
        asked.push("embed");
        return analyzer.embed(...call);
      },
    },
    fetcher: createImageFetcher({ allow: parseAllowList(""), timeoutMs: 1000, maxBytes: 1000 }),
    timeoutMs: 10_000,
    mismatch: "not a match",
    maxRequestBytes: 1024 ** 2,
    log: createLog("off"),
    httpStatus: (status) => status,
    moreRoutes: () => {},
    corsOrigins: [],
    corsHeaders: { allow: [], expose: [] },
  });
  const port = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end();
  });
  await once(port.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void port.close());
  const ends: unknown[] = [];
  await warmUp({
    gate,
    answerWith: (ownGate) => {
      const enter = createDoor({
        gate: ownGate,
        trustedProxies: [],
        httpStatus: (status) => status,
        hasRoomFor: () => true,
        refusalsPerSecond: 1,
        isDraining: () => false,
        onEnd: ({ operation, outcome }) => ends.push(`${operation} ${outcome}`),
      });
      return (request, response) => enter(request, response, (record) => wires(request, response, record));
    },
    port: port.address() as AddressInfo,
  });
  await gate.close();
  // A request is over a moment after its answer has come.
  await vi.waitFor(() => expect(ends).toEqual(Array.from({ length: 8 }, () => "get_face_vec ok")));
  const times = (what: string) => asked.filter((each) => each === what).length;
  expect(["account", "GET /healthz", "embed"].map(times)).toEqual([3, 5, 8]);
  expect(await storedCount(store)).toBe(0);
});

test("accounts that never come and a port that does not answer hold nothing up for long", async () => {
  const gate: Gate = { admit: () => new Promise(() => {}), hasAccounts: false, close: async () => {} };
  const answerWith = (): RequestListener => (_, response) => void response.end();
  const closed = { address: "127.0.0.1", port: await freePort(), family: "IPv4" };
  await warmUp({ gate, answerWith, port: closed });

  const mute = createServer(() => {});
  await once(mute.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void mute.close());
  await warmUp({ gate, answerWith, port: mute.address() as AddressInfo });
});
