import { describe, expect, test } from "vitest";
import { decodeBase64, type SpaceMeaning, STEP_BYTES } from "../../src/bytes/base64.ts";
import { createRandom } from "../../tools/support/random.ts";

async function decode(text: string, space: SpaceMeaning = "plus"): Promise<string | undefined> {
  return (await decodeBase64(Buffer.from(text), space))?.toString("hex");
}

/** The same by regular expressions over the whole text. */
function reference(text: string): string | undefined {
  const base64 = text.replaceAll(/[\r\n\t]/g, "").replaceAll(" ", "+");
  if (!/^[A-Za-z0-9+/_-]*={0,2}\+*$/.test(base64)) return undefined;
  return Buffer.from(base64, "base64").toString("hex");
}

describe("Base64", () => {
  test("agrees with the reference on random text", async () => {
    const random = createRandom(7);
    const alphabet = [..."AAAAzzzz0000++//-_  \n\r\t", "AAAA", "zzzz", "=", "===", "~", "\u00e9"];
    const pick = () => alphabet[Math.floor(random() * alphabet.length)]!;
    let valid = 0;
    for (let i = 0; i < 5000; i++) {
      const text = Array.from({ length: Math.floor(random() * 24) }, pick).join("");
      const expected = reference(text);
      expect(await decode(text), JSON.stringify(text)).toBe(expected);
      if (expected !== undefined) valid++;
    }
    expect(valid).toBeGreaterThan(1000);
  });

  test.each([
    ["without line breaks", (text: string) => text],
    ["with a line break in the first step", (text: string) => `${text.slice(0, 5)}\n${text.slice(5)}`],
    ["in lines", (text: string) => text.replaceAll(/.{76}/g, "$&\r\n")],
    ["with spaces for plus signs", (text: string) => text.replaceAll("+", " ")],
    ["for URLs", (text: string) => text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")],
  ])("of several steps is decoded %s", async (_, change) => {
    const random = createRandom(3);
    const bytes = Buffer.from(Array.from({ length: 2 * STEP_BYTES }, () => Math.floor(random() * 256)));
    const decoded = await decodeBase64(Buffer.from(change(bytes.toString("base64"))), "plus");
    expect(decoded?.equals(bytes)).toBe(true);
  });

  test.each([0, 1, STEP_BYTES - 1, STEP_BYTES, 2 * STEP_BYTES])(
    "with an invalid character at %d is rejected",
    async (index) => {
      const text = Buffer.alloc(2 * STEP_BYTES + 4, "A");
      text[index] = 0x7e;
      expect(await decodeBase64(text, "plus")).toBeUndefined();
    },
  );

  test("skips spaces where they stand for nothing", async () => {
    expect(await decode("A A A A", "nothing")).toBe("000000");
    expect(await decode("A A A A", "plus")).toBe("03e03e03e0");
  });
});
