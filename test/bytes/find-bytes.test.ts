import { expect, test } from "vitest";
import { findBytes } from "../../src/bytes/find-bytes.ts";

const MIB = 1024 * 1024;

test.each([0, 1, MIB - 3, MIB - 1, MIB, MIB + 1, 2 * MIB + 5])("a pattern is found at %d", async (index) => {
  const bytes = Buffer.alloc(3 * MIB, "a");
  bytes.write("here", index);
  bytes.write("here", 3 * MIB - 4);
  expect(await findBytes(bytes, Buffer.from("here"), 0)).toBe(index);
  expect(await findBytes(bytes, Buffer.from("here"), index)).toBe(index);
  expect(await findBytes(bytes, Buffer.from("here"), index + 1)).toBe(3 * MIB - 4);
});

test("a pattern that is not there is not found", async () => {
  expect(await findBytes(Buffer.alloc(3 * MIB, "her"), Buffer.from("here"), 0)).toBe(-1);
  expect(await findBytes(Buffer.alloc(0), Buffer.from("here"), 0)).toBe(-1);
});
