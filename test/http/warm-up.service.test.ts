import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { type Authenticator, createAuthenticator } from "../../src/accounts/authenticator.ts";
import { createSyntheticFace, openAnalyzer } from "../../src/core/index.ts";
import { parseAllowList } from "../../src/fetch/allow-list.ts";
import { createImageFetcher } from "../../src/fetch/image-fetcher.ts";
import { createAdmission } from "../../src/http/admission.ts";
import { ByteBudget } from "../../src/http/byte-budget.ts";
import type { RequestListener } from "../../src/http/exchange.ts";
import { createLifecycle } from "../../src/http/lifecycle.ts";
import { warmUp } from "../../src/http/warm-up.ts";
import { WatchLimiter } from "../../src/http/watch-limiter.ts";
import { DEFAULT_MODELS_DIR } from "../../src/model-manifest.ts";
import { createRestHandler } from "../../src/rest/handler.ts";
import { createDirectTransport } from "../../src/service/direct-transport.ts";
import { createFaceService } from "../../src/service/face-service.ts";
import { recordOutcome } from "../../src/service/interceptors.ts";
import { imageFromBytes, imageFromText } from "../../src/service/texts.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { freePort } from "../../tools/support/free-port.ts";
import { openTestStore, storedCount } from "../support/accounts.ts";

test("the warm-up reads accounts, asks the port and is answered by an operation, and nobody is charged", async () => {
  const asked: string[] = [];
  const store = await openTestStore();
  const authenticator = createAuthenticator({
    store: {
      findAccount: (...account) => {
        asked.push("account");
        return store.findAccount(...account);
      },
      addUsage: (...usage) => store.addUsage(...usage),
    },
    graceMs: 0,
    onStoreError: (trouble) => expect.fail(String(trouble)),
  });
  const analyzer = await openAnalyzer({ modelsDir: DEFAULT_MODELS_DIR });
  onTestFinished(() => analyzer.close());
  const counted = {
    ...analyzer,
    embed: (...call: Parameters<typeof analyzer.embed>) => {
      asked.push("embed");
      return analyzer.embed(...call);
    },
  };
  const fetcher = createImageFetcher({ allow: parseAllowList(""), timeoutMs: 1000, maxBytes: 1000 });
  const faces = createFaceService({
    analyzer: counted,
    fetcher,
    timeoutMs: 10_000,
    mismatch: "not a match",
  });
  const budget = new ByteBudget({ totalBytes: 1024 ** 2, maxWaitMs: 100 });
  const lifecycle = createLifecycle({
    rest: createRestHandler({
      service: FaceService,
      transport: createDirectTransport(FaceService, faces, [recordOutcome]),
      textParsers: { "face.v1.Image": { fromText: imageFromText, fromBytes: imageFromBytes } },
    }),
    rpcRoutes: () => {},
    openRpcRoutes: () => {},
    interceptors: [],
    pages: undefined,
    isReady: () => true,
    isDraining: () => false,
    watchLimiter: new WatchLimiter(),
    budget,
    maxRequestBytes: 1024 ** 2,
    timeoutMs: 10_000,
    corsOrigins: [],
    httpStatus: (status) => status,
    log: createLog("off"),
  });
  const port = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end();
  });
  await once(port.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void port.close());
  const ends: unknown[] = [];
  await warmUp({
    authenticator,
    createListener: (ownAuthenticator) =>
      lifecycle.createListener({
        admit: createAdmission({
          authenticator: ownAuthenticator,
          trustedProxies: [],
          budget,
          rejectionFor: () => undefined,
          rejectionsPerSecond: 1,
          isDraining: () => false,
        }),
        observers: [({ operation, outcome }) => ends.push(`${operation} ${outcome}`)],
      }),
    port: port.address() as AddressInfo,
    image: createSyntheticFace(),
  });
  await authenticator.close();
  // A request is over a moment after its answer has come.
  await vi.waitFor(() => expect(ends).toEqual(Array.from({ length: 8 }, () => "get_face_vec ok")));
  const times = (what: string) => asked.filter((each) => each === what).length;
  expect(["account", "GET /healthz", "embed"].map(times)).toEqual([3, 5, 8]);
  expect(await storedCount(store)).toBe(0);
});

test("accounts that never come and a port that does not answer hold nothing up for long", async () => {
  const authenticator: Authenticator = {
    admit: () => new Promise(() => {}),
    accountsAvailable: false,
    close: async () => {},
  };
  const createListener = (): RequestListener => (_, response) => void response.end();
  const image = createSyntheticFace();
  const closed = { address: "127.0.0.1", port: await freePort(), family: "IPv4" };
  await warmUp({ authenticator, createListener, port: closed, image });

  const mute = createServer(() => {});
  await once(mute.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void mute.close());
  await warmUp({ authenticator, createListener, port: mute.address() as AddressInfo, image });
});
