import { expect, test } from "vitest";
import type { Key, UsageCount } from "../../src/web/accounts/messages.ts";
import { sumUsageBy, usageCsv, usageRows } from "../../src/web/accounts/usage-rows.ts";

const count = (changes: Partial<UsageCount>): UsageCount => ({
  ...{ day: "2026-03-02", operation: "match_faces", outcome: "ok", key: "", count: "1" },
  ...changes,
});
const key = (fingerprint: string, name: string) => ({ fingerprint, name }) as Key;

test("keys have their names, as far as they have one", () => {
  const counts = ["0123456789", "abcdef0123", "deadbeef00", "", "other"].map((one) => count({ key: one }));
  const rows = usageRows(counts, [key("0123456789", "door"), key("abcdef0123", "")]);
  const names = ["door (0123456789)", "abcdef0123", "deadbeef00", "client certificate", "other keys"];
  expect(rows.map((row) => row.key)).toEqual(names);
});

test("requests are summed by day in order, and by anything else the most first", () => {
  const rows = usageRows(
    [
      count({ count: "5" }),
      count({ day: "2026-03-01", outcome: "NO_FACE", count: "2" }),
      count({ day: "2026-03-01", operation: "get_face_vec", count: "30" }),
    ],
    [],
  );
  expect(sumUsageBy(rows, "day")).toEqual([
    { name: "2026-03-01", ok: 30, failed: 2 },
    { name: "2026-03-02", ok: 5, failed: 0 },
  ]);
  expect(sumUsageBy(rows, "operation").map(({ name }) => name)).toEqual(["get_face_vec", "match_faces"]);
});

test("the CSV runs no name of a key as a formula, and has keys only of one user", () => {
  const rows = usageRows([count({ key: "0123456789" })], [key("0123456789", '=HYPERLINK("x")')]);
  expect(usageCsv(rows, true)).toContain(
    '\r\n2026-03-02,match_faces,"\'=HYPERLINK(""x"") (0123456789)",ok,1\r\n',
  );
  expect(usageCsv(rows, false)).toBe("\ufeffday,operation,outcome,count\r\n2026-03-02,match_faces,ok,1\r\n");
});
