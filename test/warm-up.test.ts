import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../bench/free-port.ts";
import { DEFAULT_MODELS_DIR } from "../models/manifest.ts";
import { createGate, type Gate } from "../src/accounts/gate.ts";
import { openAnalyzer } from "../src/core/index.ts";
import { parseAllowList } from "../src/fetch/allow-list.ts";
import { createImageFetcher } from "../src/fetch/image-fetcher.ts";
import { createLog } from "../src/ops/log.ts";
import { warmUp } from "../src/warm-up.ts";
import { createWires, type Wires } from "../src/wires.ts";
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
  const statuses: number[] = [];
  await warmUp(
    gate,
    (request, response) => {
      response.once("finish", () => statuses.push(response.statusCode));
      wires(request, response);
    },
    port.address() as AddressInfo,
  );
  await gate.close();
  expect(statuses).toEqual(Array.from({ length: 8 }, () => 200));
  const times = (what: string) => asked.filter((each) => each === what).length;
  expect(["account", "GET /healthz", "embed"].map(times)).toEqual([3, 5, 8]);
  expect(await storedCount(store)).toBe(0);
});

test("accounts that never come and a port that does not answer hold nothing up for long", async () => {
  const gate: Gate = { admit: () => new Promise(() => {}), hasAccounts: false, close: async () => {} };
  const wires: Wires = (_, response) => void (response as ServerResponse).end();
  const closed = { address: "127.0.0.1", port: await freePort(), family: "IPv4" };
  await warmUp(gate, wires, closed);

  const mute = createServer(() => {});
  await once(mute.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void mute.close());
  await warmUp(gate, wires, mute.address() as AddressInfo);
});
