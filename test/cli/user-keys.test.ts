import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { runInProcess } from "../support/command-line.ts";

const DAY_MS = 24 * 3_600_000;
const KEY = "key-of-an-old-program";
const FINGERPRINT = fingerprintOf(hashKey(KEY));

let folder: string;
let folders = 0;
let dataDir: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "visage-keys-"));
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  dataDir = join(folder, `${++folders}`);
  await users("add", "--name", "ann", "--key", KEY, "--init");
});

function visage(...args: string[]) {
  return runInProcess(["users", ...args], { VISAGE_DATA_DIR: dataDir, VISAGE_AUDIT: `${dataDir}.jsonl` });
}

/** Runs a command that must succeed. Returns its output. */
async function users(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await visage(...args);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^Account database: .*\n$/)]);
  return stdout;
}

const json = async (...args: string[]) => JSON.parse(await users(...args, "--json"));
const errorOf = async (...args: string[]) => (await visage(...args)).stderr.split("\n")[1];

describe("visage users keys", () => {
  it("lists the keys with creation, expiry and last use", async () => {
    const store = await openAccountStore({ databaseUrl: undefined, dataDir });
    await store.addUsage("1", [], [{ hash: hashKey(KEY), usedAt: new Date("2026-03-31T12:34:00Z") }]);
    await store.close();
    const [columns, row] = (await users("keys", "ann")).split("\n");
    expect(columns).toMatch(/^fingerprint +name +scopes +galleries +created +expires +last used$/);
    expect(row).toMatch(
      new RegExp(
        `^${FINGERPRINT} +first key +all +all +\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\dZ +never +2026-03-31T12:34Z$`,
      ),
    );
    expect(await json("keys", KEY)).toEqual([
      {
        fingerprint: FINGERPRINT,
        name: "first key",
        scopes: null,
        galleries: null,
        created_at: expect.any(String),
        expires_at: null,
        last_used_at: "2026-03-31T12:34:00.000Z",
      },
    ]);
  });
});

describe("visage users rotate", () => {
  it("prints a new key once, and lets the old one expire after seven days", async () => {
    const text = await users("rotate", "ann");
    const [, key] = /shown only once and never stored:\n\n {2}(vsg_[0-9a-f]{32})\n/.exec(text)!;
    const [old, created] = await json("keys", key!);
    expect(old).toMatchObject({ fingerprint: FINGERPRINT });
    expect((Date.parse(old.expires_at) - Date.now()) / DAY_MS).toBeCloseTo(7, 1);
    expect(created).toMatchObject({ fingerprint: fingerprintOf(hashKey(key!)), expires_at: null });
    expect(await users("keys", "ann")).not.toContain(key);
    expect(await json("show", key!)).toMatchObject(await json("show", KEY));
  });

  it("replaces the key of a fingerprint, and needs one if there are several", async () => {
    const args = ["--name", "door", "--scopes", "identify,read", "--gallery", "a", "--gallery", "b"];
    const { key, keys } = await json("add-key", "ann", ...args, "--days", "90");
    const door = { name: "door", scopes: ["identify", "read"], galleries: ["a", "b"] };
    const fingerprint = fingerprintOf(hashKey(key));
    expect(keys).toContainEqual(expect.objectContaining({ ...door, fingerprint }));
    expect(await users("keys", "ann")).toMatch(/\ndoor|door +identify,read +a,b /);
    expect(await errorOf("rotate", "ann")).toBe(
      'visage: ann has several keys; name one by its fingerprint, as "visage users keys" prints it',
    );
    const rotated = await json("rotate", "ann", fingerprint, "--grace", "0");
    expect(rotated.keys).toHaveLength(2);
    const { expires_at, ...created } = rotated.keys.find(
      (one: { fingerprint: string }) => one.fingerprint === fingerprintOf(hashKey(rotated.key)),
    );
    expect(created).toMatchObject(door);
    expect((Date.parse(expires_at) - Date.now()) / DAY_MS).toBeCloseTo(90, 1);
    expect(await errorOf("keys", key)).toBe("visage: No user has this name, fingerprint or key");
  });

  it.each([
    [["--scopes", "everything"], "Option '--scopes' must be a list of analyze, "],
    [["--days", "0"], "Option '--days' must be a positive integer, not '0'"],
    [["--name", " "], "A name must have"],
  ])("adds no key with %j", async (args, reason) => {
    expect((await visage("add-key", "ann", ...args)).stderr).toContain(reason);
  });

  it.each(["-1", "1.5", "week", "3651"])("rejects a grace of %s", async (grace) => {
    const { code, stderr } = await visage("rotate", "ann", "--grace", grace);
    expect(code).toBe(2);
    expect(stderr).toContain(`Option '--grace' must be a number of days from 0 to 3650, not '${grace}'`);
  });
});

describe("visage users revoke", () => {
  it("removes a key by its fingerprint", async () => {
    const { key } = await json("add-key", "ann");
    expect(await users("revoke", "ann", FINGERPRINT)).toBe(`Revoked the key ${FINGERPRINT} of ann.\n`);
    expect(await json("keys", "ann")).toHaveLength(1);
    expect(await users("revoke", "ann", key)).toBe(
      `Revoked the key ${fingerprintOf(hashKey(key))} of ann.\nann has no other key. Add one with "visage users add-key".\n`,
    );
    expect(await users("keys", "ann")).toBe("The user has no keys.\n");
    await users("add-key", "ann");
    expect(await json("keys", "ann")).toHaveLength(1);
  });

  it("does not remove the key of another user, nor repeat what may be a key", async () => {
    await users("add", "--name", "bob", "--key", "key-of-bob");
    for (const text of [fingerprintOf(hashKey("key-of-bob")), "key-of-bob", "unknown-key"])
      expect(await errorOf("revoke", "ann", text)).toBe(
        'visage: ann has no key with this fingerprint; "visage users keys" lists the keys',
      );
    expect(await json("keys", "bob")).toHaveLength(1);
  });
});

describe("the certificate subject of a user", () => {
  it("is set, shown, unique and removed", async () => {
    expect(await json("add", "--name", "bob", "--certificate-subject", "bob.example")).toMatchObject({
      certificate_subject: "bob.example",
    });
    expect(await errorOf("set-certificate", "ann", "bob.example")).toBe(
      'visage: The certificate subject "bob.example" belongs to the user "bob"',
    );
    expect(await users("set-certificate", "bob", "none")).not.toContain("certificate");
    expect(await users("set-certificate", "ann", "bob.example")).toMatch(/\ncertificate +bob\.example\n/);
    expect(await json("show", "ann")).toMatchObject({ certificate_subject: "bob.example" });
  });
});
