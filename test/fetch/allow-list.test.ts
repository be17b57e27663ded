import { describe, expect, test } from "vitest";
import { parseAllowList } from "../../src/fetch/allow-list.ts";

const list = parseAllowList("10.1.0.0/16, 127.0.0.1,fd00:1::/32,2001:db8::7, Images.Test ,minio_1");

describe("an allow list", () => {
  test.each(["10.1.0.0", "10.1.255.255", "127.0.0.1", "fd00:1:2::3", "2001:db8::7", "2001:DB8:0::7"])(
    "contains %s",
    (address) => {
      expect(list.hasAddress(address)).toBe(true);
    },
  );

  test.each([
    "10.2.0.0",
    "127.0.0.2",
    "fd00:2::1",
    "2001:db8::8",
    "8.8.8.8",
    "127.1",
    "fd00:1::1%lo",
    "images.test",
    "",
  ])("does not contain %j", (address) => {
    expect(list.hasAddress(address)).toBe(false);
  });

  test("matches IPv4-mapped IPv6 addresses", () => {
    expect(list.hasAddress("::ffff:127.0.0.1")).toBe(true);
    expect(list.hasAddress("::ffff:a01:203")).toBe(true);
    expect(list.hasAddress("::ffff:127.0.0.2")).toBe(false);
    expect(parseAllowList("::ffff:127.0.0.2").hasAddress("127.0.0.2")).toBe(true);
  });

  test("does not allow IPv4 addresses through the network of all IPv6 addresses", () => {
    const wide = parseAllowList("::/0");
    expect(wide.hasAddress("::1")).toBe(true);
    expect(wide.hasAddress("127.0.0.1")).toBe(false);
    expect(wide.hasAddress("::ffff:127.0.0.1")).toBe(false);
  });

  test("matches host names exactly, except for case", () => {
    expect(list.hasHost("images.test")).toBe(true);
    expect(list.hasHost("IMAGES.test")).toBe(true);
    expect(list.hasHost("minio_1")).toBe(true);
    for (const other of ["a.images.test", "test", "images.test.", "images.test.evil.org", "10.1.0.1"])
      expect(list.hasHost(other)).toBe(false);
  });

  test("may allow an unlisted name only if it could resolve to a listed address", () => {
    expect(list.mayAllow("other.test")).toBe(true);
    expect(list.mayAllow("10.1.2.3")).toBe(true);
    expect(list.mayAllow("10.2.2.3")).toBe(false);
    expect(parseAllowList("images.test").mayAllow("images.test")).toBe(true);
    expect(parseAllowList("images.test").mayAllow("other.test")).toBe(false);
  });

  test.each(["", "  "])("of %j allows nothing", (text) => {
    const none = parseAllowList(text);
    expect(none.hasHost("")).toBe(false);
    expect(none.hasAddress("127.0.0.1")).toBe(false);
    expect(none.mayAllow("images.test")).toBe(false);
  });
});

test.each([
  "10.0.0.0/33",
  "10.0.0.0/",
  "10.0.0.0/-1",
  "10.0.0.0/8/8",
  "fd00::/129",
  "::ffff:10.0.0.0/104",
  "fe80::1%lo",
  "127.1",
  "0x7f.1",
  "1.2.3.999",
  "[::1]",
  "*.images.test",
  ".images.test",
  "images.test.",
  "images.test:8080",
  "http://images.test",
  "images test",
  "bücher.test",
  "a..b",
  "*",
  "",
])("the entry %j is rejected", (entry) => {
  const text = `127.0.0.1,${entry},images.test`;
  expect(() => parseAllowList(text)).toThrow(
    `must be addresses, networks such as 10.0.0.0/8 or exact host names, not "${entry}"`,
  );
});
