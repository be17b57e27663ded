import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { parseMasterKeys } from "../../src/galleries/master-keys.ts";

const [one, two] = [randomBytes(32), randomBytes(32)];

test("keys are read in Base64 and hexadecimal, the first one first", () => {
  const fingerprints = (text: string) => [...parseMasterKeys(text).all.keys()];
  const [first, second] = fingerprints(`${one.toString("base64")}\r\n\t${two.toString("hex").toUpperCase()}`);
  expect(first).toMatch(/^[0-9a-f]{16}$/);
  expect(fingerprints(one.toString("hex"))).toEqual([first]);
  expect(fingerprints(two.toString("base64"))).toEqual([second]);
  expect(first).not.toBe(second);
  expect(parseMasterKeys(one.toString("hex")).first?.fingerprint).toBe(first);
  expect(one.toString("hex")).not.toContain(first);
});

test('after "plain", keys only decrypt', () => {
  const { first, all } = parseMasterKeys(`plain ${one.toString("base64")}`);
  expect([first, all.size]).toEqual([undefined, 1]);
});

test("without keys, nothing is encrypted", () => {
  expect(parseMasterKeys(undefined)).toMatchObject({ first: undefined, all: new Map() });
});

test.each([
  ["too short", one.subarray(1).toString("base64")],
  ["too long", Buffer.concat([one, two]).toString("hex")],
  ["truncated", one.toString("base64").slice(0, -1)],
  ["of other characters", `${one.toString("base64").slice(0, -3)}_A=`],
  ["of 32 characters", "0123456789abcdef0123456789abcdef"],
  ["a passphrase", "correct horse battery staple"],
  ["separated by commas", `${one.toString("hex")},${two.toString("hex")}`],
  ["with a wrong one after them", `${one.toString("hex")} wrong-key`],
  ['only "plain"', "plain"],
  ['with "plain" at the end', `${one.toString("hex")} plain`],
])("keys are rejected without being repeated: %s", (_, text) => {
  const read = () => readConfig({ VISAGE_TEMPLATE_KEY: text });
  expect(read).toThrow(/^VISAGE_TEMPLATE_KEY must (be keys of 32 bytes .*|have a key after "plain")$/);
  for (const word of text.split(/\s/).filter((part) => part !== "plain")) expect(read).not.toThrow(word);
});
