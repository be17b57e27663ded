import { expect, test } from "vitest";
import { formatAuditLine } from "../../src/audit/audit-line.ts";

const LINE = {
  phase: "end",
  operation: "IdentifyFaces",
  source: undefined,
  user: "0123456789",
  key: undefined,
  address: undefined,
  request_id: "id",
  trace_id: undefined,
} as const;

test("a line names a limited number of people, and their total", () => {
  const people = Array.from({ length: 1_500 }, (_, i) => `p${i}`);
  const line = JSON.parse(formatAuditLine({ ...LINE, people }));
  expect(line).toMatchObject({ people: people.slice(0, 1_000), people_count: 1_500 });
});

test("a line has only the known fields, on one line", () => {
  const details = { gallery: 'a"\n', display_name: "Ann" };
  const text = formatAuditLine({ ...LINE, ...details });
  expect(text.indexOf("\n")).toBe(text.length - 1);
  expect(JSON.parse(text)).toEqual({
    time: expect.any(String),
    event: "audit",
    phase: "end",
    operation: "IdentifyFaces",
    user: "0123456789",
    gallery: 'a"\n',
    request_id: "id",
  });
});
