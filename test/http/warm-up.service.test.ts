import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { type Authenticator, createAuthenticator } from "../../src/accounts/authenticator.ts";
import type { AuditTrail } from "../../src/audit/audit-trail.ts";
import { DEFAULT_MODELS_DIR, openAnalyzer, readFalseMatchRates } from "../../src/core/index.ts";
import { createSyntheticFace } from "../../src/core/synthetic-face.ts";
import { parseAllowList } from "../../src/fetch/allow-list.ts";
import { createImageFetcher } from "../../src/fetch/image-fetcher.ts";
import type { GalleryStore } from "../../src/galleries/gallery-store.ts";
import type { GallerySearcher } from "../../src/galleries/search-process.ts";
import { createAdmission } from "../../src/http/admission.ts";
import { ByteBudget } from "../../src/http/byte-budget.ts";
import type { RequestListener } from "../../src/http/exchange.ts";
import { warmUp } from "../../src/http/warm-up.ts";
import type { Permission } from "../../src/permissions.ts";
import { createServices } from "../../src/services.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { freePort } from "../../tools/support/free-port.ts";
import { openTestStore, storedCount } from "../support/accounts.ts";
import { createTestLifecycle } from "../support/echo-service.ts";

const CASES: readonly [Permission[], string[]][] = [
  [[], ["get_face_vec ok"]],
  [["embeddings"], ["visage.v1.analyze_image ok"]],
  [["analyze"], ["match_faces ok"]],
  [["analyze", "compare"], []],
];

test.each(CASES)("with %j off, it runs what is left, which costs no quota", async (off, operations) => {
  const seen = new Set<string>();
  const store = await openTestStore();
  const authenticator = createAuthenticator({
    store: {
      findAccount: (...account) => {
        seen.add("account");
        return store.findAccount(...account);
      },
      addUsage: (...usage) => store.addUsage(...usage),
    },
    graceMs: 0,
    onStoreError: (error) => expect.fail(String(error)),
  });
  const analyzer = await openAnalyzer({ modelsDir: DEFAULT_MODELS_DIR });
  onTestFinished(() => analyzer.close());
  const log = createLog("off");
  const services = createServices({
    analyzer,
    fetcher: createImageFetcher({ allow: parseAllowList(""), timeoutMs: 1000, maxBytes: 1000 }),
    rates: readFalseMatchRates(),
    // The warm-up needs no galleries.
    galleries: {} as GalleryStore,
    searcher: {} as GallerySearcher,
    accounts: {} as AccountStore,
    off,
    hasAdmin: false,
    timeoutMs: 10_000,
    isLegacy: false,
    log,
    // The warm-up changes nothing.
    auditTrail: {} as AuditTrail,
  });
  const lifecycle = createTestLifecycle({ services, log });
  const port = createServer((request, response) => {
    seen.add(`${request.method} ${request.url}`);
    response.end();
  });
  await once(port.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void port.close());
  await warmUp({
    authenticator,
    createListener: (warmUpAuthenticator) =>
      lifecycle.createListener({
        admission: createAdmission({
          authenticator: warmUpAuthenticator,
          adminAuthenticator: undefined,
          trustedProxies: [],
          budget: new ByteBudget({ totalBytes: 1024 ** 2, maxWaitMs: 100 }),
          rejectionFor: () => undefined,
          rejectionsPerSecond: 1,
          isDraining: () => false,
        }),
        observers: [({ operation, outcome }) => seen.add(`${operation} ${outcome}`)],
      }),
    port: port.address() as AddressInfo,
    image: createSyntheticFace(),
    off,
  });
  await authenticator.close();
  // A request ends shortly after its response has arrived.
  await expect.poll(() => lifecycle.inFlight).toBe(0);
  expect([...seen].toSorted()).toEqual(["GET /healthz", "account", ...operations]);
  expect(await storedCount(store)).toBe(0);
});

test("neither slow accounts nor a port that does not respond delay the start for long", async () => {
  const authenticator: Authenticator = {
    admit: () => new Promise(() => {}),
    accountsAvailable: false,
    close: async () => {},
  };
  const createListener = (): RequestListener => (_, response) => void response.end();
  const image = createSyntheticFace();
  const closed = { address: "127.0.0.1", port: await freePort(), family: "IPv4" };
  await warmUp({ authenticator, createListener, port: closed, image, off: [] });

  const mute = createServer(() => {});
  await once(mute.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void mute.close());
  await warmUp({ authenticator, createListener, port: mute.address() as AddressInfo, image, off: [] });
});
