import { afterAll, beforeAll, describe } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { createGalleryClient } from "../support/galleries.ts";
import { addLimitedUsers, describeGalleryLimits } from "../support/gallery-limits-contract.ts";
import { hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { startTestService } from "../support/service.ts";

describe.skipIf(!hasPostgres)("with two replicas on one PostgreSQL", () => {
  let postgres: TestPostgres;
  let services: readonly RunningService[];

  beforeAll(async () => {
    postgres = await startPostgres();
    const accounts = await openAccountStore({ databaseUrl: postgres.url, dataDir: "" });
    await addLimitedUsers(accounts);
    await accounts.close();
    const settings = { VISAGE_DATABASE_URL: postgres.url };
    services = [await startTestService(settings), await startTestService(settings)];
  });
  afterAll(async () => {
    for (const service of services ?? []) await service.close();
    await postgres?.remove();
  });

  describeGalleryLimits((user) => services.map((service) => createGalleryClient(service, user)));
});
