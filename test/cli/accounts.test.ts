import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { AccountStore, UsageCount } from "../../src/accounts/account-store.ts";
import { fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { type CommandResult, runInProcess } from "../support/command-line.ts";

const DAY_MS = 24 * 3_600_000;
const ID = "id-of-an-old-program";
const FINGERPRINT = fingerprintOf(hashKey(ID));

let folder: string;
let folders = 0;
/** Settings that locate the accounts of the current test. */
let settings: { VISAGE_DATA_DIR: string; VISAGE_DATABASE_URL: string; VISAGE_AUDIT: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "visage-commands-"));
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(() => {
  const dataDir = join(folder, `${++folders}`);
  settings = { VISAGE_DATA_DIR: dataDir, VISAGE_DATABASE_URL: "", VISAGE_AUDIT: `${dataDir}.jsonl` };
});

function visage(...args: string[]): Promise<CommandResult> {
  return runInProcess(args, settings);
}

/** The line that names the database. */
function databaseLine(): string {
  return `Account database: ${join(settings.VISAGE_DATA_DIR, "accounts.db")}\n`;
}

/** Runs a command that must succeed. Returns its output. */
async function printed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await visage(...args);
  expect([code, stderr]).toEqual([0, databaseLine()]);
  return stdout;
}

async function json(...args: string[]) {
  return JSON.parse(await printed(...args, "--json"));
}

function failure(reason: string): CommandResult {
  return { code: 1, stdout: "", stderr: `${databaseLine()}visage: ${reason}\n` };
}

async function createDatabase(): Promise<void> {
  await (await openStore()).close();
}

/** Opens the store that the commands use. */
function openStore(): Promise<AccountStore> {
  const databaseUrl = settings.VISAGE_DATABASE_URL || undefined;
  return openAccountStore({ dataDir: settings.VISAGE_DATA_DIR, databaseUrl });
}

/** Stores a user like `users add`, without starting a process. */
async function addUser(name: string, id: string, plan: string): Promise<void> {
  const store = await openStore();
  const user = { id: hashKey(id), fingerprint: fingerprintOf(hashKey(id)), name, plan, enabled: true };
  const startsAt = new Date("2026-01-01");
  await store.addUser({ ...user, startsAt, endsAt: undefined, certificateSubject: undefined }, hashKey(id));
  await store.close();
}

/** Stores usage like the service. */
async function addUsage(key: string, ...counts: Omit<UsageCount, "userId">[]): Promise<void> {
  const store = await openStore();
  const [user] = await store.findUsers(hashKey(key));
  await store.addUsage(
    crypto.randomUUID(),
    counts.map((count) => ({ ...count, userId: user!.id })),
  );
  await store.close();
}

describe("visage users add", () => {
  beforeEach(createDatabase);

  it("generates an id and shows it only once", async () => {
    const text = await printed("users", "add", "--name", "ann");
    const [, id] = text.match(/shown only once and never stored:\n\n {2}(\S+)\n/)!;
    expect(text).toMatch(/^name +ann\nplan +trial\nfingerprint +[0-9a-f]{10}\n/);
    expect(text).not.toContain(fingerprintOf(hashKey(id!)));
    for (const args of [
      ["list"],
      ["show", id!],
      ["show", id!, "--json"],
      ["show", id!, "--export"],
      ["disable", id!],
    ])
      expect(await printed("users", ...args)).not.toContain(id);
  });

  it("prints the new user as JSON", async () => {
    const user = await json("users", "add", "--name", "ann");
    expect(user).toEqual({
      key: expect.stringMatching(/^vsg_[0-9a-f]{32}$/),
      name: "ann",
      plan: "trial",
      fingerprint: expect.stringMatching(/^[0-9a-f]{10}$/),
      starts_at: expect.any(String),
      ends_at: null,
      enabled: true,
      certificate_subject: null,
    });
    expect(Math.abs(Date.parse(user.starts_at) - Date.now())).toBeLessThan(60_000);
  });

  it("accepts an id, a plan and dates", async () => {
    const dates = ["--start", "2026-01-01", "--end", "2030-01-01T12:00:00+02:00"];
    expect(await json("users", "add", "--name", "Ann B.", "--plan", "pro", "--key", ID, ...dates)).toEqual({
      key: ID,
      name: "Ann B.",
      plan: "pro",
      fingerprint: expect.any(String),
      starts_at: "2026-01-01T00:00:00.000Z",
      ends_at: "2030-01-01T10:00:00.000Z",
      enabled: true,
      certificate_subject: null,
    });
  });

  it("shows a subscription that starts later", async () => {
    const text = await printed("users", "add", "--name", "ann", "--start", "2099-01-01");
    expect(text).toMatch(/\nstarts +2099-01-01T00:00:00\.000Z\nends +never\nstate +not started\n/);
  });

  it("does not store the id", async () => {
    const { key: id } = await json("users", "add", "--name", "ann");
    await addUsage(id, { day: "2026-01-05", key: "k", operation: "match_faces", outcome: "ok", count: 1 });
    const store = await openStore();
    const [user] = await store.findUsers(hashKey(id));
    await store.updateUser(user!.id, { enabled: false });
    const names = await readdir(settings.VISAGE_DATA_DIR);
    expect(names.sort()).toEqual(["accounts.db", "accounts.db-shm", "accounts.db-wal"]);
    const files = await Promise.all(names.map((name) => readFile(join(settings.VISAGE_DATA_DIR, name))));
    await store.close();
    expect(files.some((bytes) => bytes.includes(hashKey(id)))).toBe(true);
    expect(files.some((bytes) => bytes.includes(id))).toBe(false);
  });

  it("rejects a name or id that is in use and an unknown plan", async () => {
    await printed("users", "add", "--name", "ann", "--key", ID);
    const add = (...args: string[]) => visage("users", "add", ...args);
    expect(await add("--name", "ann")).toEqual(failure('A user named "ann" already exists'));
    expect(await add("--name", "bob", "--key", ID)).toEqual(failure("This key is already in use"));
    expect(await add("--name", "bob", "--plan", "gold")).toEqual(failure('The plan "gold" does not exist'));
  });
});

describe("visage users", () => {
  beforeEach(() => addUser("ann", ID, "trial"));

  it("lists users in a table and as JSON", async () => {
    await printed("users", "add", "--name", "bob", "--plan", "unlimited", "--end", "2099-01-01");
    const [columns, ...rows] = (await printed("users", "list")).trimEnd().split("\n");
    expect(columns).toMatch(/^name +plan +fingerprint +starts +ends +state$/);
    expect(rows).toEqual([
      expect.stringMatching(new RegExp(`^ann +trial +${FINGERPRINT} +2026-01-01 +never +active$`)),
      expect.stringMatching(/^bob +unlimited +[0-9a-f]{10} +\d{4}-\d\d-\d\d +2099-01-01 +active$/),
    ]);
    const users = await json("users", "list");
    expect(users.map(({ name }: { name: string }) => name)).toEqual(["ann", "bob"]);
  });

  it("finds a user by id, fingerprint or name", async () => {
    for (const text of [ID, FINGERPRINT, "ann"])
      expect(await json("users", "show", text)).toMatchObject({ name: "ann", fingerprint: FINGERPRINT });
  });

  it("rejects an unknown or ambiguous user", async () => {
    const unknown = failure("No user has this name, fingerprint or key");
    const calls = [["show"], ["set-plan", "pro"], ["renew", "--days", "1"], ["disable"], ["remove"]];
    for (const [action, ...rest] of calls)
      expect(await visage("users", action!, "nobody", ...rest)).toEqual(unknown);
    await addUser(FINGERPRINT, "id-of-shadow", "trial");
    expect(await visage("users", "show", FINGERPRINT)).toEqual(
      failure("More than one user has this name, fingerprint or key"),
    );
    expect(await json("users", "show", ID)).toMatchObject({ name: "ann" });
  });

  it("shows a user with its quota", async () => {
    const month = new Date().toISOString().slice(0, 7);
    await addUsage(ID, { day: `${month}-01`, key: "", operation: "match_faces", outcome: "ok", count: 250 });
    expect(await printed("users", "show", "ann")).toMatch(
      /this month +250 of 1000 used \(25%\) on plan trial\n/,
    );
    expect(await json("users", "show", "ann")).toMatchObject({
      used_this_month: 250,
      requests_per_month: 1000,
    });
  });

  it("exports everything that is stored about a user", async () => {
    const usage = [
      { day: "2025-12-05", key: "k", operation: "match_faces", outcome: "NO_FACE", count: 2 },
      { day: "2026-01-05", key: "k", operation: "match_faces", outcome: "ok", count: 1 },
    ];
    await addUsage(ID, ...usage);
    expect(JSON.parse(await printed("users", "show", "ann", "--export"))).toEqual({
      about: expect.stringContaining("Left out on purpose: the hashes of the keys"),
      exported_at: expect.any(String),
      user: {
        name: "ann",
        plan: "trial",
        fingerprint: FINGERPRINT,
        id: hashKey(ID),
        starts_at: "2026-01-01T00:00:00.000Z",
        ends_at: null,
        enabled: true,
        certificate_subject: null,
      },
      keys: [
        {
          fingerprint: FINGERPRINT,
          name: "first key",
          scopes: null,
          galleries: null,
          created_at: expect.any(String),
          expires_at: null,
          last_used_at: null,
        },
      ],
      usage,
      galleries: [],
    });
  });

  it("sets the plan, disables and enables", async () => {
    expect(await printed("users", "set-plan", "ann", "pro")).toMatch(/\nplan +pro\n/);
    expect(await printed("users", "disable", "ann")).toMatch(/\nstate +disabled\n/);
    expect(await json("users", "show", "ann")).toMatchObject({ plan: "pro", enabled: false });
    expect(await printed("users", "enable", "ann")).toMatch(/\nstate +active\n/);
    expect(await visage("users", "set-plan", "ann", "gold")).toEqual(
      failure('The plan "gold" does not exist'),
    );
  });

  it("renews until a date, without end, and by days", async () => {
    const ends = async () => (await json("users", "show", "ann")).ends_at;
    const daysFromNow = async () => Math.round((Date.parse(await ends()) - Date.now()) / DAY_MS);
    expect(await printed("users", "renew", "ann", "--until", "2026-01-02")).toMatch(/\nstate +ended\n/);
    expect(await ends()).toBe("2026-01-02T00:00:00.000Z");
    // From now, because the subscription has ended; then from its end.
    await printed("users", "renew", "ann", "--days", "30");
    expect(await daysFromNow()).toBe(30);
    await printed("users", "renew", "ann", "--days", "5");
    expect(await daysFromNow()).toBe(35);
    await printed("users", "renew", "ann", "--until", "never");
    expect(await ends()).toBeNull();
    await printed("users", "renew", "ann", "--days", "7");
    expect(await daysFromNow()).toBe(7);
    await printed("users", "renew", "ann", "--until", "9999-12-01");
    expect(await visage("users", "renew", "ann", "--days", "3650")).toEqual(
      failure("The field extend_days leads beyond the year 9999."),
    );
  });

  it("removes a user and all its usage", async () => {
    await addUsage(ID, { day: "2026-01-05", key: "k", operation: "match_faces", outcome: "ok", count: 1 });
    expect(await printed("users", "remove", ID)).toBe(`Removed ann (${FINGERPRINT}) and all its usage.\n`);
    expect(await json("users", "list")).toEqual([]);
    expect(await json("usage", "--month", "2026-01")).toEqual({ month: "2026-01", usage: [] });
    await printed("users", "add", "--name", "ann");
    await printed("users", "remove", "ann", "--yes");
    expect(await printed("users", "list")).toBe("There are no users.\n");
  });
});

describe("visage users remove on a terminal", () => {
  it.each([
    ["y\n", []],
    ["YES\n", []],
    ["n\n", ["ann"]],
    ["\n", ["ann"]],
    // Ctrl-D
    ["", ["ann"]],
  ])("asks for confirmation: %j", async (answer, names) => {
    await addUser("ann", ID, "trial");
    const stdin = Object.assign(Readable.from(answer ? [answer] : []), { isTTY: true });
    const { code } = await runInProcess(["users", "remove", "ann"], settings, { stdin });
    expect(code).toBe(0);
    expect((await json("users", "list")).map(({ name }: { name: string }) => name)).toEqual(names);
  });
});

describe("visage plans", () => {
  beforeEach(createDatabase);
  const readPlan = async (name: string) =>
    (await json("plans", "list")).find((plan: { name: string }) => plan.name === name);

  it("lists the plans in a table and as JSON", async () => {
    const [columns, ...rows] = (await printed("plans", "list")).trimEnd().split("\n");
    expect(columns).toMatch(/^plan +per second +burst +per month +max image bytes +galleries .* off$/);
    const cells = rows.map((row) => row.split(/ +/));
    expect(cells.map((row) => [...row.slice(0, 6), row.at(-1)])).toEqual([
      ["basic", "10", "20", "50000", "unlimited", "20", "-"],
      ["pro", "50", "100", "1000000", "unlimited", "200", "-"],
      ["trial", "2", "10", "1000", "unlimited", "3", "-"],
      ["unlimited", "unlimited", "-", "unlimited", "unlimited", "unlimited", "-"],
    ]);
    expect(await readPlan("trial")).toMatchObject({
      requests_per_second: 2,
      burst: 10,
      requests_per_month: 1000,
      max_image_bytes: null,
      off: [],
    });
  });

  it("changes only the given limits of a plan", async () => {
    const changed = {
      ...(await readPlan("trial")),
      burst: 3,
      requests_per_month: null,
      max_image_bytes: 1_000_000,
      max_gallery_faces: null,
    };
    const args = [
      "--burst",
      "3",
      "--per-month",
      "unlimited",
      "--max-image-bytes",
      "1000000",
      "--gallery-faces",
      "unlimited",
    ];
    expect(await json("plans", "set", "trial", ...args)).toEqual(changed);
    expect(await json("plans", "set", "trial", "--per-second", "unlimited")).toEqual({
      ...changed,
      requests_per_second: null,
    });
    const off = ["identify", "export"];
    const none = ["--galleries", "0", "--gallery-faces", "0"];
    expect(await json("plans", "set", "trial", ...none, "--off", "export,identify")).toMatchObject({
      max_galleries: 0,
      max_gallery_faces: 0,
      off,
    });
    expect(await printed("plans", "list")).toContain(" identify,export");
    expect(await json("plans", "set", "trial", "--burst", "4")).toMatchObject({ max_galleries: 0, off });
    expect(await json("plans", "set", "trial", "--off", "none")).toMatchObject({ burst: 4, off: [] });
    expect((await json("plans", "list")).length).toBe(4);
  });

  it("adds a plan with the given limits and a burst of two seconds", async () => {
    const added = { ...(await readPlan("unlimited")), name: "slow", requests_per_second: 1.2, burst: 3 };
    expect(await json("plans", "set", "slow", "--create", "--per-second", "1.2")).toEqual(added);
    expect(await json("plans", "list")).toContainEqual(added);
    expect(await json("plans", "set", "free", "--create")).toMatchObject({
      requests_per_second: null,
      burst: 1,
    });
    expect(await json("plans", "set", "slow", "--create", "--burst", "9")).toEqual({ ...added, burst: 9 });
  });

  it("rejects a new name without --create", async () => {
    expect(await visage("plans", "set", "prro", "--per-second", "5")).toEqual(
      failure(
        'The plan "prro" does not exist; add it by "--create", or use one of basic, pro, trial, unlimited',
      ),
    );
    expect((await json("plans", "list")).length).toBe(4);
  });

  it("removes a plan that has no users", async () => {
    await addUser("ann", ID, "basic");
    await addUser("bob", "id-of-bob", "basic");
    expect(await visage("plans", "remove", "basic")).toEqual(failure('The plan "basic" still has 2 users'));
    expect(await visage("plans", "remove", "gold")).toEqual(failure('The plan "gold" does not exist'));
    for (const name of ["ann", "bob"]) await printed("users", "remove", name);
    expect(await printed("plans", "remove", "basic")).toBe("Removed the plan basic.\n");
    expect((await json("plans", "list")).map(({ name }: { name: string }) => name)).toEqual([
      "pro",
      "trial",
      "unlimited",
    ]);
  });
});

describe("visage usage", () => {
  const month = "2026-03";
  beforeEach(async () => {
    await addUser("ann", ID, "trial");
    await addUser("bob", "id-of-bob", "unlimited");
    await addUsage(
      ID,
      { day: "2026-03-01", key: "", operation: "match_faces", outcome: "ok", count: 40 },
      { day: "2026-03-31", key: "abcdef0123", operation: "match_faces", outcome: "ok", count: 60 },
      { day: "2026-03-31", key: "abcdef0123", operation: "match_faces", outcome: "NO_FACE", count: 300 },
      { day: "2026-03-31", key: "abcdef0123", operation: "get_face_vec", outcome: "ok", count: 100 },
    );
    await addUsage("id-of-bob", {
      day: "2026-03-31",
      key: "",
      operation: "get_face_vec",
      outcome: "ok",
      count: 50,
    });
  });

  it("prints a bar chart of all users", async () => {
    expect((await printed("usage", "--month", month)).split("\n")).toEqual([
      "2026-03  all users",
      "  operation     outcome  count",
      `  get_face_vec  ok         150  ${"█".repeat(20)}`,
      `  match_faces   NO_FACE    300  ${"█".repeat(40)}`,
      `  match_faces   ok         100  ${"█".repeat(13)}▍`,
      "",
    ]);
  });

  it("prints the quota of a user", async () => {
    const [heading, , ...rows] = (await printed("usage", "ann", "--month", month)).trimEnd().split("\n");
    expect(heading).toBe("2026-03  ann  200 of 1000 used (20%) on plan trial");
    expect(rows).toHaveLength(3);
    expect(await printed("usage", "bob", "--month", month)).toMatch(
      / bob {2}50 used, no limit on plan unlimited\n/,
    );
  });

  it("prints JSON", async () => {
    expect(await json("usage", ID, "--month", month)).toEqual({
      month,
      user: { name: "ann", fingerprint: FINGERPRINT },
      plan: "trial",
      used: 200,
      requests_per_month: 1000,
      usage: [
        { operation: "get_face_vec", outcome: "ok", count: 100 },
        { operation: "match_faces", outcome: "NO_FACE", count: 300 },
        { operation: "match_faces", outcome: "ok", count: 100 },
      ],
    });
  });

  it("counts by day and key", async () => {
    const text = await printed("usage", "ann", "--month", month, "--by-day", "--by-key");
    expect(text.split("\n").slice(1, 4)).toEqual([
      "  day         key          operation     outcome  count",
      `  2026-03-01  certificate  match_faces   ok          40  ${"█".repeat(2)}▉`,
      expect.stringMatching(/^ {2}2026-03-31 {2}abcdef0123 {3}get_face_vec {2}ok {9}100 {2}█/),
    ]);
    const { usage } = await json("usage", "--month", month, "--by-day");
    expect(usage[0]).toEqual({ day: "2026-03-01", operation: "match_faces", outcome: "ok", count: 40 });
    expect(usage).toHaveLength(4);
  });

  it("defaults to the current month", async () => {
    const present = new Date().toISOString().slice(0, 7);
    expect(await printed("usage")).toBe(`${present}  all users\n  no usage\n`);
  });

  it("rejects an unknown user", async () => {
    expect(await visage("usage", "nobody")).toEqual(failure("No user has this name, fingerprint or key"));
  });
});

describe("an invalid command line", () => {
  const FORMAT = "8 to 128 printable characters without spaces";
  const DATE = "must be a date such as 2026-01-31 or 2026-01-31T12:00:00Z";
  const SUBCOMMANDS =
    "add, list, show, set-plan, renew, disable, enable, keys, add-key, rotate, revoke, set-certificate, remove";
  it.each([
    [["users", "add"], "Option '--name' is required"],
    [["users", "add", "--name", "a", "--key", "short"], `Option '--key' must be ${FORMAT}`],
    [["users", "add", "--name", "a", "--key", "with a space"], `Option '--key' must be ${FORMAT}`],
    [["users", "add", "--name", "a", "--start", "soon"], `Option '--start' ${DATE}`],
    [["users", "add", "--name", "a", "--end", "2026-02-30"], `Option '--end' ${DATE}`],
    [["users", "add", "--name", "a", "--end", "2026-02-03T10:00"], `Option '--end' ${DATE}`],
    [["users", "add", "--name", "a", "--end", "2020-01-01"], "The subscription must end after it starts"],
    [
      ["users", "add", "--name", "\x1b[2J"],
      "A name must have 1 to 100 printable characters without leading or trailing spaces",
    ],
    [["users", "add", "--name", "a", "b"], "Unexpected argument 'b'"],
    [["users"], `The subcommand is missing; use one of ${SUBCOMMANDS}`],
    [["users", "paint"], `Unknown subcommand 'paint'; use one of ${SUBCOMMANDS}`],
    [["users", "constructor"], `Unknown subcommand 'constructor'; use one of ${SUBCOMMANDS}`],
    [["users", "show"], "The argument USER is missing"],
    [["users", "show", "ann", "bob"], "Unexpected argument 'bob'"],
    [["users", "set-plan", "ann"], "The argument PLAN is missing"],
    [["users", "renew", "ann"], "Either '--until' or '--days' is required"],
    [
      ["users", "renew", "ann", "--days", "1", "--until", "2030-01-01"],
      "Either '--until' or '--days' is required",
    ],
    [["users", "renew", "ann", "--days", "-3"], "Option '--days' must be a positive integer, not '-3'"],
    [["users", "renew", "ann", "--days=-3"], "Option '--days' must be a positive integer, not '-3'"],
    [["users", "renew", "ann", "--days", "3651"], "Option '--days' must be 1 to 3650"],
    [["users", "renew", "ann", "--days"], "Option '--days' requires a value"],
    [["users", "renew", "ann", "--days", "--until", "never"], "Option '--days' requires a value"],
    [["users", "renew", "ann", "--days", "1.5"], "Option '--days' must be a positive integer, not '1.5'"],
    [["plans", "set"], "The argument NAME is missing"],
    [["plans", "set", "a", "b"], "Unexpected argument 'b'"],
    [["plans", "set", "a", "--per-second", "0"], "Option '--per-second' must be a positive number, not '0'"],
    [
      ["plans", "set", "a", "--per-second", "0.0009"],
      "Option '--per-second' must be 0.001 to 9007199254740991",
    ],
    [
      ["plans", "set", "a", "--per-second", "1e3"],
      "Option '--per-second' must be a positive number, not '1e3'",
    ],
    [["plans", "set", "a", "--burst", "none"], "Option '--burst' must be a positive integer, not 'none'"],
    [
      ["plans", "set", "a", "--per-month", "1.5"],
      "Option '--per-month' must be a positive integer, not '1.5'",
    ],
    [
      ["plans", "set", "a", "--max-image-bytes", ""],
      "Option '--max-image-bytes' must be a positive integer, not ''",
    ],
    [
      ["plans", "set", "a", "--per-month", "none"],
      "Option '--per-month' must be a positive integer, not 'none'",
    ],
    [
      ["plans", "set", "a", "--per-second", "-1"],
      "Option '--per-second' must be a positive number, not '-1'",
    ],
    [["plans", "remove"], "The argument NAME is missing"],
    [["plans", "drop"], "Unknown subcommand 'drop'; use one of list, set, remove"],
    [["usage", "--month", "2026-13"], "Option '--month' must be a month such as 2026-01"],
    [["usage", "ann", "bob"], "Unexpected argument 'bob'"],
    [["usage", "--by-key"], "Option '--by-key' needs a user"],
  ])("is rejected with a one-line error: %j", async (args, reason) => {
    expect(await visage(...args)).toEqual({
      code: 2,
      stdout: "",
      stderr: `visage: ${reason}; see "visage ${args[0]} --help"\n`,
    });
  });
});

describe("the account commands", () => {
  it.each([
    ["account", "VISAGE_KEY"],
    ["users", "VISAGE_DATABASE_URL"],
    ["plans", "VISAGE_DATABASE_URL"],
    ["usage", "VISAGE_DATABASE_URL"],
  ])("print their help: %s", async (name, setting) => {
    const { code, stdout, stderr } = await visage(name, "--help");
    expect([code, stderr]).toEqual([0, ""]);
    expect(await visage("help", name)).toEqual({ code, stdout, stderr });
    expect(stdout).toMatch(new RegExp(`^Usage: visage ${name} `));
    expect(stdout).toContain(setting);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
  });
});

describe("a missing account database", () => {
  const commands = [
    ["users", "list"],
    ["users", "add", "--name", "ann"],
    ["users", "show", "ann"],
    ["users", "set-plan", "ann", "pro"],
    ["users", "renew", "ann", "--days", "1"],
    ["users", "disable", "ann"],
    ["users", "enable", "ann"],
    ["users", "keys", "ann"],
    ["users", "rotate", "ann"],
    ["users", "set-certificate", "ann", "ann.example"],
    ["users", "remove", "ann"],
    ["plans", "list"],
    ["plans", "set", "pro", "--burst", "1"],
    ["plans", "set", "gold", "--create"],
    ["plans", "remove", "pro"],
    ["usage"],
  ];

  it.each(commands)("is reported and not created by %s %s", async (...args) => {
    settings.VISAGE_DATA_DIR = join(folder, "nowhere/data");
    const path = join(settings.VISAGE_DATA_DIR, "accounts.db");
    expect(await visage(...args)).toEqual(
      failure(
        `There is no account database at ${path}; use another folder or VISAGE_DATA_DIR or VISAGE_DATABASE_URL, or create it by "visage users add --init" or "visage serve"`,
      ),
    );
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
  });

  it("counts an empty file as missing", async () => {
    const path = join(settings.VISAGE_DATA_DIR, "accounts.db");
    await mkdir(settings.VISAGE_DATA_DIR);
    await writeFile(path, "");
    expect((await visage("users", "list")).stderr).toContain("There is no account database at");
    expect(await readFile(path, "utf8")).toBe("");
  });

  it("is created by users add --init", async () => {
    settings.VISAGE_DATA_DIR = join(folder, "new/data");
    expect(await json("users", "add", "--name", "ann", "--init")).toMatchObject({ name: "ann" });
    expect(await json("users", "add", "--name", "bob", "--init")).toMatchObject({ name: "bob" });
    expect(await json("users", "list")).toHaveLength(2);
  });
});
