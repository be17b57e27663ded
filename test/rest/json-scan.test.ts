import { describe, expect, test } from "vitest";
import { scanJson } from "../../src/rest/json-scan.ts";
import {
  LONG_TEXT_BYTES,
  MAX_JSON_BYTES,
  MAX_JSON_DEPTH,
  MAX_JSON_VALUES,
} from "../../src/rest/parse-limits.ts";
import { RestError } from "../../src/rest/rest-error.ts";
import { createRandom } from "../../tools/support/random.ts";

const LONG = "x".repeat(LONG_TEXT_BYTES + 1);

/** Parses JSON and replaces the placeholders by the long strings. */
async function parse(text: string): Promise<unknown> {
  const { text: rest, longStrings } = await scanJson(Buffer.from(text));
  const long = new Map<string, string>();
  for (const [placeholder, value] of longStrings) long.set(placeholder, (await value.decode()).toString());
  return JSON.parse(rest, (_, value) => long.get(value) ?? value);
}

async function outcomeOf(read: () => unknown): Promise<string> {
  try {
    return `value ${JSON.stringify(await read())}`;
  } catch (error) {
    if (!(error instanceof RestError || error instanceof SyntaxError)) throw error;
    return "invalid";
  }
}

describe("the scan of JSON agrees with JSON.parse", () => {
  test.each([
    ["a long string", `{"a":"${LONG}"}`],
    ["a long string one level down", `{"a":{"b":"${LONG}"}}`],
    ["a long string two levels down", `{"a":{"b":{"c":"${LONG}"}}}`],
    ["a long string in a list", `{"a":["${LONG}"]}`],
    ["a long key", `{"${LONG}":1}`],
    ["a duplicate key, long first", `{"a":"${LONG}","a":"b"}`],
    ["a duplicate key, long last", `{"a":"b","a":"${LONG}"}`],
    ["an escaped key", `{"\\u0061":"${LONG}"}`],
    ["__proto__", `{"__proto__":"${LONG}","a":{"__proto__":"${LONG}"}}`],
    ["all escapes", `{"a":"${LONG}\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\ud83d\\ude00"}`],
    ["text outside ASCII", `{"a":"${LONG}\u00e9\u20ac\u{1f600}"}`],
    ["an invalid escape", `{"a":"${LONG}\\x"}`],
    ["an incomplete escape", `{"a":"${LONG}\\u12G4"}`],
    ["a control character", `{"a":"${LONG}\n"}`],
    ["a string without an end", `{"a":"${LONG}`],
    ["a string that ends with a backslash", `{"a":"${LONG}\\`],
    ["garbage after the end", `{"a":"${LONG}"}}`],
    ["a string after the end", `{"a":"${LONG}"}"${LONG}"`],
    ["a missing comma", `{"a":"${LONG}""b":1}`],
    ["a missing key", `{:"${LONG}"}`],
    ["a missing brace", `{"a":"${LONG}"`],
    ["a mismatched bracket", `{"a":"${LONG}"]`],
  ])("for %s", async (_, text) => {
    expect(await outcomeOf(() => parse(text))).toBe(await outcomeOf(() => JSON.parse(text)));
  });

  test("for random text", async () => {
    const random = createRandom(11);
    const tokens = [
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      '"a":',
      `"${LONG}"`,
      `"${LONG}\\n"`,
      '"\\u00e9"',
      "1",
      "-1e5",
    ];
    const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!;
    const randomValue = (depth: number): string => {
      const kind = depth > 3 ? 3 : Math.floor(random() * 6);
      const length = kind < 3 ? Math.floor(random() * 4) : 0;
      const items = Array.from({ length }, () => randomValue(depth + 1));
      if (kind < 2)
        return `{${items.map((item) => `${pick(['"a"', '"b"', '"\\u0061"', ' "__proto__" '])}:${item}`).join(",")}}`;
      if (kind === 2) return `[ ${items.join(" , ")}]`;
      return pick(['"s"', `"${LONG}"`, `"${LONG}\\/${LONG}"`, "1", "true", "null", '"\\ud83d\\ude00"']);
    };
    let valid = 0;
    for (let i = 0; i < 5000; i++) {
      let text = randomValue(0);
      // One change in four texts makes most of them invalid, but not all.
      if (i % 4 === 0) {
        const at = Math.floor(random() * text.length);
        text = text.slice(0, at) + pick(tokens) + text.slice(at + Math.floor(random() * 2));
      }
      const expected = await outcomeOf(() => JSON.parse(text));
      expect(await outcomeOf(() => parse(text)), text).toBe(expected);
      if (expected !== "invalid") valid++;
    }
    expect(valid).toBeGreaterThan(2000);
  });
});

test("a string that is longer than one step is extracted as a whole", async () => {
  const value = `${"A".repeat(200_000)}\\n${"B".repeat(200_000)}`;
  expect(await parse(`{"a":"${value}","b":1}`)).toEqual(JSON.parse(`{"a":"${value}","b":1}`));
});

describe("JSON limits", () => {
  const list = (count: number) => `[${Array(count).fill("1").join(",")}]`;
  const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const wide = (bytes: number) => `{"a":["${"x".repeat(bytes - 10)}"]}`;

  test.each([
    ["values", list(MAX_JSON_VALUES - 1), list(MAX_JSON_VALUES), /values/],
    [
      "members",
      `{${Array(MAX_JSON_VALUES - 1)
        .fill('"a":1')
        .join(",")}}`,
      `{${Array(MAX_JSON_VALUES).fill('"a":1').join(",")}}`,
      /values/,
    ],
    [
      "empty lists",
      `[${Array(MAX_JSON_VALUES - 1)
        .fill("[]")
        .join(",")}]`,
      `[${Array(MAX_JSON_VALUES).fill("[]").join(",")}]`,
      /values/,
    ],
    ["depth", deep(MAX_JSON_DEPTH), deep(MAX_JSON_DEPTH + 1), /deep/],
    ["bytes", wide(MAX_JSON_BYTES), wide(MAX_JSON_BYTES + 1), /bytes/],
    ["whitespace", `{}${" ".repeat(MAX_JSON_BYTES - 2)}`, `{}${" ".repeat(MAX_JSON_BYTES - 1)}`, /bytes/],
    [
      "bytes beside a long string",
      `{"b":"${LONG}",${wide(MAX_JSON_BYTES - 7).slice(1)}`,
      `{"b":"${LONG}",${wide(MAX_JSON_BYTES - 6).slice(1)}`,
      /bytes/,
    ],
  ])("hold for %s", async (_, allowed, excessive, message) => {
    await expect(scanJson(Buffer.from(allowed))).resolves.toBeDefined();
    const error = await scanJson(Buffer.from(excessive)).catch((fault: unknown) => fault);
    expect(error).toMatchObject({ name: "RestError", kind: "badRequest" });
    expect((error as RestError).message).toMatch(message);
  });

  test("leave room for 64 boxes and two vectors of 128 numbers", async () => {
    const box = { x1: -1234.5678, y1: 1234.5678, x2: 12345.678, y2: 12345.678 };
    const vector = Array(128).fill(-0.1234567890123456);
    const body = JSON.stringify({ bboxes: Array(64).fill(box), one: vector, other: vector });
    await expect(scanJson(Buffer.from(body))).resolves.toBeDefined();
  });
});
