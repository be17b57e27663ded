import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { createGalleryClient } from "../support/galleries.ts";
import { addLimitedUsers, describeGalleryLimits } from "../support/gallery-limits-contract.ts";
import { startTestService } from "../support/service.ts";

describe("with SQLite", () => {
  let dataDir: string;
  let service: RunningService;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "visage-gallery-limits-"));
    const accounts = await openAccountStore({ databaseUrl: undefined, dataDir });
    await addLimitedUsers(accounts);
    await accounts.close();
    service = await startTestService({ VISAGE_DATA_DIR: dataDir });
  });
  afterAll(async () => {
    await service?.close();
    await rm(dataDir, { recursive: true });
  });

  describeGalleryLimits((user) => [createGalleryClient(service, user)]);
});
