import { describe, expect, test } from "vitest";
import { isId, randomPersonId, suggestId } from "../../src/web/galleries/names.ts";
import { shareText } from "../../src/web/site/rates.ts";

describe("the galleries page", () => {
  test.each([
    ["Staff", "staff"],
    ["Café Zürich, 2. OG", "cafe-zurich-2-og"],
    ["  --  ", ""],
    ["日本", ""],
    ["x".repeat(300), "x".repeat(40)],
    [`${"a".repeat(39)} b`, "a".repeat(39)],
  ])("suggests an id for a name: %j", (name, id) => {
    expect(suggestId(name)).toBe(id);
    expect(isId(suggestId(name))).toBe(id !== "");
  });

  test.each(["", ".", "..", "a/b", "a b", "ä", "a:b", "x".repeat(129), "../../x"])(
    "rejects the id %j",
    (id) => {
      expect(isId(id)).toBe(false);
    },
  );

  test("makes a new id for every person", () => {
    const ids = Array.from({ length: 100 }, randomPersonId);
    expect(new Set(ids).size).toBe(100);
    expect(ids.filter((id) => !isId(id))).toEqual([]);
  });
});

test.each([
  [0, "no strangers"],
  [2.309e-8, "1 in 43,000,000 strangers"],
  [0.0005393, "1 in 1,900 strangers"],
  [0.001, "0.1% of strangers"],
  [0.045, "4.5% of strangers"],
  [1, "100% of strangers"],
])("a share of %f is written for people", (rate, text) => {
  expect(shareText(rate, "strangers")).toBe(text);
});
