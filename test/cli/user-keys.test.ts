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
  return runInProcess(["users", ...args], { VISAGE_DATA_DIR: dataDir });
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
    expect(columns).toMatch(/^fingerprint +created +expires +last used$/);
    expect(row).toMatch(
      new RegExp(`^${FINGERPRINT} +\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\dZ +never +2026-03-31T12:34Z$`),
    );
    expect(await json("keys", KEY)).toEqual([
      {
        fingerprint: FINGERPRINT,
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

  it("refuses a third key", async () => {
    await users("rotate", "ann", "--grace", "1");
    expect(await visage("rotate", "ann")).toMatchObject({ code: 1, stdout: "" });
    expect(await errorOf("rotate", "ann")).toBe(
      "visage: The user has 2 keys already. Revoke one of them, or wait until it expires",
    );
  });

  it("ends all other keys at once without grace", async () => {
    await users("rotate", "ann");
    const { key, keys } = await json("rotate", "ann", "--grace", "0");
    expect(keys).toMatchObject([{ fingerprint: fingerprintOf(hashKey(key)), expires_at: null }]);
    expect(await errorOf("keys", KEY)).toBe("visage: No user has this name, fingerprint or key");
  });

  it.each(["-1", "1.5", "week", "3651"])("rejects a grace of %s", async (grace) => {
    const { code, stderr } = await visage("rotate", "ann", "--grace", grace);
    expect(code).toBe(2);
    expect(stderr).toContain(`Option '--grace' must be a number of days from 0 to 3650, not '${grace}'`);
  });
});

describe("visage users revoke", () => {
  it("removes a key by its fingerprint", async () => {
    const { key } = await json("rotate", "ann");
    expect(await users("revoke", "ann", FINGERPRINT)).toBe(`Revoked the key ${FINGERPRINT} of ann.\n`);
    expect(await json("keys", "ann")).toHaveLength(1);
    expect(await users("revoke", "ann", key)).toBe(
      `Revoked the key ${fingerprintOf(hashKey(key))} of ann.\nann has no other key. Add one with "visage users rotate".\n`,
    );
    expect(await users("keys", "ann")).toBe("The user has no keys.\n");
    await users("rotate", "ann");
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
