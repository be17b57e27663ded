import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_MODELS_DIR } from "../models/prepare.ts";
import { createGate } from "../src/accounts/gate.ts";
import { openAnalyzer } from "../src/core/index.ts";
import { parseAllowList } from "../src/fetch/allow-list.ts";
import { createImageFetcher } from "../src/fetch/image-fetcher.ts";
import { createLog } from "../src/ops/log.ts";
import { warmUp } from "../src/warm-up.ts";
import { createWires } from "../src/wires.ts";
import { openTestStore, storedCount } from "./support/accounts.ts";

test("the warm-up reads an account and is answered by an operation, and nobody is charged", async () => {
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
  const statuses: number[] = [];
  await warmUp(gate, (request, response) => {
    response.once("finish", () => statuses.push(response.statusCode));
    wires(request, response);
  });
  await gate.close();
  expect(statuses).toEqual([200, 200]);
  expect(asked).toEqual(["account", "embed", "embed"]);
  expect(await storedCount(store)).toBe(0);
});
