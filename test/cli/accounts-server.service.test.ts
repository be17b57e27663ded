import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { type CommandResult, runInProcess } from "../support/command-line.ts";
import { ADMIN_KEY, startTestService } from "../support/service.ts";

const MONTH = "2026-03";

let service: RunningService;
let dataDir: string;
let url: string;
/** The name of a user of one test. */
let name: string;
let names = 0;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "visage-cli-accounts-"));
  service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_ADMIN_KEY: ADMIN_KEY });
  url = `http://127.0.0.1:${service.port}`;
});
afterAll(async () => {
  await service.close();
  await rm(dataDir, { recursive: true });
});
beforeEach(() => {
  name = `user ${++names}`;
});

/** Runs a command of the operator on the service. */
function onService(...args: string[]): Promise<CommandResult> {
  return runInProcess([...args, "--server", url], { VISAGE_ADMIN_KEY: ADMIN_KEY });
}

/** Runs a command that must succeed on the service. Returns its output. */
async function printed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await onService(...args);
  expect([code, stderr]).toEqual([0, `Service: ${url}\n`]);
  return stdout;
}

const json = async (...args: string[]) => JSON.parse(await printed(...args, "--json"));

function failure(code: number, reason: string): CommandResult {
  return { code, stdout: "", stderr: `Service: ${url}\nvisage: ${reason}\n` };
}

/** Runs a command on the database of the service. */
async function onDatabase(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runInProcess(args, { VISAGE_DATA_DIR: dataDir });
  expect([code, stderr]).toEqual([0, `Account database: ${join(dataDir, "accounts.db")}\n`]);
  return stdout;
}

/** Stores usage of a user as the service does. */
async function addUsage(key: string): Promise<void> {
  const store = await openAccountStore({ databaseUrl: undefined, dataDir });
  const [user] = await store.findUsers(hashKey(key));
  const counts = [
    { operation: "match_faces", outcome: "ok", count: 3 },
    { operation: "match_faces", outcome: "NO_FACE", count: 5 },
  ];
  await store.addUsage(
    crypto.randomUUID(),
    counts.map((count) => ({ ...count, day: `${MONTH}-05`, key: "", userId: user!.id })),
  );
  await store.close();
}

describe("the commands of the operator, with a service", () => {
  it("print what they print with its database", async () => {
    const { key } = await json("users", "add", "--name", name, "--plan", "basic", "--end", "2099-01-01");
    await printed("users", "rotate", name);
    await addUsage(key);
    const commands = [
      ["users", "list"],
      ["users", "list", "--json"],
      ["users", "show", name],
      ["users", "show", name, "--json"],
      ["users", "keys", name],
      ["users", "keys", name, "--json"],
      ["plans", "list"],
      ["plans", "list", "--json"],
      ["usage", name, "--month", MONTH],
      ["usage", name, "--month", MONTH, "--json"],
      ["usage", "--month", MONTH],
    ];
    for (const command of commands) expect(await printed(...command)).toBe(await onDatabase(...command));
  });

  it("list more users than one call returns", async () => {
    const store = await openAccountStore({ databaseUrl: undefined, dataDir });
    const ids = Array.from({ length: 1_001 }, (_, i) => `${i}`);
    for (const id of ids) {
      const user = { id: hashKey(id), fingerprint: fingerprintOf(hashKey(id)), name: `many ${id}` };
      const subscription = { plan: "trial", enabled: true, startsAt: new Date(), endsAt: undefined };
      await store.addUser({ ...user, ...subscription, certificateSubject: undefined }, hashKey(`key ${id}`));
    }
    await store.close();
    const listed: { name: string }[] = await json("users", "list");
    expect(listed.filter((user) => user.name.startsWith("many "))).toHaveLength(ids.length);
  });

  it("change users", async () => {
    const { fingerprint } = await json("users", "add", "--name", name);
    expect(await printed("users", "set-plan", name, "pro")).toMatch(/\nplan +pro\n/);
    expect(await printed("users", "renew", fingerprint, "--until", "2026-02-01")).toMatch(/\nstate +ended\n/);
    await printed("users", "renew", name, "--days", "2");
    const { ends_at } = await json("users", "show", name);
    expect(Date.parse(ends_at)).toBeGreaterThan(Date.now() + 86_400_000);
    expect(await printed("users", "renew", name, "--until", "never")).toMatch(/\nends +never\n/);
    expect(await printed("users", "disable", name)).toMatch(/\nstate +disabled\n/);
    expect(await printed("users", "enable", name)).toMatch(/\nstate +active\n/);
    expect(await printed("users", "set-certificate", name, `${name}.example`)).toContain(`${name}.example`);
    expect(await printed("users", "set-certificate", name, "none")).not.toContain("certificate");
    const removed = `Removed ${name} (${fingerprint}) and all its usage.\n`;
    expect(await printed("users", "remove", name, "--yes")).toBe(removed);
    expect(await printed("users", "list")).not.toContain(name);
  });

  it("ask before they remove a user on a terminal", async () => {
    await printed("users", "add", "--name", name);
    const stdin = Object.assign(Readable.from(["n\n"]), { isTTY: true });
    const args = ["users", "remove", name, "--server", url];
    await runInProcess(args, { VISAGE_ADMIN_KEY: ADMIN_KEY }, { stdin });
    expect(await printed("users", "list")).toContain(name);
  });

  it("replace keys", async () => {
    const { key: first } = await json("users", "add", "--name", name);
    const { key: second } = await json("users", "rotate", name, "--grace", "1");
    const both = [fingerprintOf(hashKey(first)), fingerprintOf(hashKey(second))];
    const fingerprints = async () =>
      (await json("users", "keys", name)).map((key: { fingerprint: string }) => key.fingerprint);
    expect(await fingerprints()).toEqual(both);
    expect(await onService("users", "rotate", name)).toEqual(
      failure(1, `${name} has several keys; name one by its fingerprint, as "visage users keys" prints it`),
    );
    const door = ["--name", "door", "--scopes", "identify", "--gallery", "staff"];
    const { keys } = await json("users", "add-key", name, ...door);
    expect(keys).toContainEqual(
      expect.objectContaining({ name: "door", scopes: ["identify"], galleries: ["staff"] }),
    );
    const added = (await fingerprints()).find((one: string) => !both.includes(one))!;
    await printed("users", "revoke", name, added);
    expect(await printed("users", "revoke", name, both[0]!)).toBe(`Revoked the key ${both[0]} of ${name}.\n`);
    expect(await fingerprints()).toEqual([both[1]]);
  });

  it("add, change and remove plans", async () => {
    const added = await json("plans", "set", "night", "--create", "--per-second", "1.5", "--galleries", "7");
    expect(added).toMatchObject({ requests_per_second: 1.5, burst: 3, max_galleries: 7 });
    const changes = ["--galleries", "unlimited", "--per-month", "9"];
    expect(await json("plans", "set", "night", ...changes)).toEqual({
      ...added,
      max_galleries: null,
      requests_per_month: 9,
    });
    expect(await printed("plans", "remove", "night")).toBe("Removed the plan night.\n");
    expect(await onService("plans", "remove", "night")).toEqual(failure(1, "The plan does not exist."));
  });

  it("reject what only a database can do", async () => {
    await printed("users", "add", "--name", name);
    const commands = {
      init: ["users", "add", "--name", "other", "--init"],
      key: ["users", "add", "--name", "other", "--key", "key-of-an-old-program"],
      export: ["users", "show", name, "--export"],
    };
    for (const [option, args] of Object.entries(commands))
      expect(await onService(...args)).toEqual(
        failure(2, `Option '--${option}' needs the database, not a service; see "visage users --help"`),
      );
    expect(await printed("users", "list")).not.toContain("other");
  });

  it("do not find a user by its key, and do not repeat the key", async () => {
    const { key } = await json("users", "add", "--name", name);
    const message = "No user, or more than one, has this name or fingerprint; a service finds none by a key";
    for (const args of [["users", "show"], ["users", "disable"], ["users", "remove"], ["usage"]])
      expect(await onService(...args, key)).toEqual(failure(1, message));
  });

  it("need the admin key of the service", async () => {
    expect(await runInProcess(["users", "list", "--server", url])).toEqual({
      code: 2,
      stdout: "",
      stderr: 'visage: VISAGE_ADMIN_KEY is required; see "visage users --help"\n',
    });
    const wrong = { VISAGE_ADMIN_KEY: "x".repeat(32) };
    const { code, stderr } = await runInProcess(["users", "list", "--server", url], wrong);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^Service: .*\nvisage: .*admin key.*\n$/)]);
  });

  it("name a service that cannot be reached", async () => {
    const args = ["plans", "list", "--server", "http://127.0.0.1:1"];
    const { code, stderr } = await runInProcess(args, { VISAGE_ADMIN_KEY: ADMIN_KEY });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/\nvisage: http:\/\/127\.0\.0\.1:1: .+\n$/)]);
  });
});

describe("the accounts that the commands of the operator use", () => {
  const sourceOf = async (args: string[], env: Record<string, string>) =>
    (await runInProcess(args, { VISAGE_ADMIN_KEY: ADMIN_KEY, ...env })).stderr.trimEnd();
  const list = ["plans", "list"];

  it("are those of the service in VISAGE_URL, unless a database is named", async () => {
    const database = `Account database: ${join(dataDir, "accounts.db")}`;
    expect(await sourceOf(list, { VISAGE_URL: url })).toBe(`Service: ${url}`);
    expect(await sourceOf(list, { VISAGE_URL: url, VISAGE_DATA_DIR: dataDir })).toBe(database);
    const postgres = { VISAGE_URL: url, VISAGE_DATABASE_URL: "postgres://127.0.0.1:1/visage" };
    expect(await sourceOf(list, postgres)).toMatch(/^Account database: postgres:/);
  });

  it("are those of the service in --server, whatever the settings name", async () => {
    const env = { VISAGE_URL: "http://127.0.0.1:1", VISAGE_DATA_DIR: dataDir };
    expect(await sourceOf([...list, "--server", url], env)).toBe(`Service: ${url}`);
  });
});

describe("visage account", () => {
  let key: string;
  beforeEach(async () => {
    ({ key } = await json("users", "add", "--name", name, "--plan", "trial"));
  });

  const account = (args: string[], env = { VISAGE_URL: url, VISAGE_KEY: key }) =>
    runInProcess(["account", ...args], env);

  /** Runs a command that must succeed. Returns its output. */
  async function shown(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await account(args);
    expect([code, stderr]).toEqual([0, ""]);
    return stdout;
  }

  it("shows the plan, the subscription, the quota and the keys", async () => {
    const { key: newKey } = JSON.parse(await shown("rotate", "--json"));
    const text = await shown("show");
    expect(text).toMatch(new RegExp(`^name +${name}\nplan +trial\nfingerprint +[0-9a-f]{10}\nstarts `));
    expect(text).toMatch(
      /\nstate +active\nthis month +0 of 1000 used \(0%\) on plan trial\n\nplan +per second/,
    );
    expect(text).toMatch(new RegExp(`\n${fingerprintOf(hashKey(key))} \\* +first key +all +all +\\d{4}-`));
    expect(text).toMatch(new RegExp(`\n${fingerprintOf(hashKey(newKey))} {3,}first key +all +all +\\d{4}-`));
    expect(JSON.parse(await shown("show", "--json"))).toEqual({
      name,
      plan: "trial",
      fingerprint: expect.stringMatching(/^[0-9a-f]{10}$/),
      starts_at: expect.any(String),
      ends_at: null,
      state: "active",
      used_this_month: 0,
      limits: expect.objectContaining({
        requests_per_second: 2,
        burst: 10,
        max_image_bytes: null,
        max_galleries: 3,
        off: [],
      }),
      keys: [
        expect.objectContaining({ fingerprint: fingerprintOf(hashKey(key)), current: true }),
        expect.objectContaining({ fingerprint: fingerprintOf(hashKey(newKey)), current: false }),
      ],
    });
  });

  it("prints the usage of a month as the operator sees it", async () => {
    await addUsage(key);
    const text = await shown("usage", "--month", MONTH);
    expect(text).toContain(`${MONTH}  ${name}  3 of 1000 used (0%) on plan trial\n`);
    expect(text).toBe(await printed("usage", name, "--month", MONTH));
    expect(JSON.parse(await shown("usage", "--month", MONTH, "--json"))).toMatchObject({ used: 3 });
  });

  it("replaces the key", async () => {
    const text = await shown("rotate", "--grace", "3");
    const [, newKey] = /shown only once and never stored:\n\n {2}(vsg_[0-9a-f]{32})\n/.exec(text)!;
    const old = fingerprintOf(hashKey(key));
    expect(await account(["revoke", old])).toEqual({
      code: 1,
      stdout: "",
      stderr: "visage: The key of the request itself cannot be deleted.\n",
    });
    const revoked = await account(["revoke", old], { VISAGE_URL: url, VISAGE_KEY: newKey! });
    expect(revoked).toEqual({ code: 0, stdout: `Revoked the key ${old}.\n`, stderr: "" });
    expect(await json("users", "keys", name)).toHaveLength(1);
  });

  it("accepts a service and a key as options", async () => {
    const options = ["--server", url, "--key", key, "--json"];
    const { stdout } = await runInProcess(["account", "show", ...options]);
    expect(JSON.parse(stdout)).toMatchObject({ name });
  });

  it.each([
    [["show"], "Option '--key' or VISAGE_KEY is required"],
    [["show", "ann"], "Unexpected argument 'ann'"],
    [["usage", "--month", "March"], "Option '--month' must be a month such as 2026-01"],
    [["rotate", "--grace", "x"], "Option '--grace' must be a number of days from 0 to 3650, not 'x'"],
    [["revoke"], "The argument FINGERPRINT is missing"],
    [["keys"], "Unknown subcommand 'keys'; use one of show, usage, add-key, rotate, revoke"],
  ])("rejects an invalid command line: %j", async (args, reason) => {
    expect(await runInProcess(["account", ...args], { VISAGE_URL: url })).toEqual({
      code: 2,
      stdout: "",
      stderr: `visage: ${reason}; see "visage account --help"\n`,
    });
  });
});
