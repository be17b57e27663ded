import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import type { Environment } from "../../src/config.ts";
import type { RunningService } from "../../src/main.ts";
import { startBrowser } from "./browser.ts";
import { startTestService } from "./service.ts";

/** A service and a browser that the tests of a file share. They exist from `beforeAll` on. */
export interface Site {
  readonly service: RunningService;
  readonly browser: Browser;
  /** The address of a path of the service. */
  url(path: string): string;
}

/** Starts a service and a browser before the tests of the current `describe`, and stops them after it. */
export function useSite(env: Environment = {}): Site {
  let service: RunningService | undefined;
  let browser: Browser | undefined;
  const start = async () => {
    service = await startTestService(env);
  };
  const launch = async () => {
    browser = await startBrowser();
  };
  // Each is kept as soon as it runs, so that it is stopped even if the other one fails.
  beforeAll(() => Promise.all([start(), launch()]));
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });
  return {
    get service() {
      return service!;
    },
    get browser() {
      return browser!;
    },
    url: (path) => `http://127.0.0.1:${service!.port}${path}`,
  };
}
