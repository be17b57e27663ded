import { describe, expect, test } from "vitest";
import { parseAllowList } from "../../src/fetch/allow-list.ts";
import { mayConnect } from "../../src/fetch/connector.ts";
import { FetchError } from "../../src/fetch/fetch-error.ts";
import { parseImageUrl } from "../../src/fetch/image-url.ts";

const NOTHING = parseAllowList("");
const LISTED = parseAllowList("images.test,10.0.0.0/8,fd00::1");

describe("the URL of an image", () => {
  test.each([
    ["http://example.org/a.jpg", "http://example.org/a.jpg"],
    ["HTTPS://EXAMPLE.ORG", "https://example.org/"],
    ["http://example.org:80/", "http://example.org/"],
    ["http://example.org:443/", "http://example.org:443/"],
    ["https://example.org:80/", "https://example.org:80/"],
    ["https://bücher.example/ü?ü#there", "https://xn--bcher-kva.example/%C3%BC?%C3%BC#there"],
    [" http://example.org/ ", "http://example.org/"],
    // The connector checks the address, so that the error reveals nothing.
    ["http://127.0.0.1/", "http://127.0.0.1/"],
  ])("may be %j", (text, href) => {
    expect(parseImageUrl(text, NOTHING).href).toBe(href);
  });

  test.each([
    ["", "not a valid"],
    ["a.jpg", "not a valid"],
    ["//example.org/a.jpg", "not a valid"],
    ["http://", "not a valid"],
    ["http://exa mple.org/", "not a valid"],
    ["http://1.2.3.999/", "not a valid"],
    ["http://[fe80::1%25lo]/", "not a valid"],
    ["ftp://example.org/", "not a valid"],
    ["file:///etc/passwd", "not a valid"],
    ["data:image/png;base64,AAAA", "not a valid"],
    ["gopher://127.0.0.1:6379/_", "not a valid"],
    ["http://me@example.org/", "user name or password"],
    ["http://:secret@example.org/", "user name or password"],
    ["http://example.org:8080/", "port 80 or 443"],
    ["http://example.org:22/", "port 80 or 443"],
    ["http://127.0.0.1:6379/", "port 80 or 443"],
    ["http://[::1]:8080/", "port 80 or 443"],
    [`http://example.org/${"a".repeat(2048)}`, "longer than 2048 characters"],
  ])("may not be %j", (text, why) => {
    const parse = () => parseImageUrl(text, NOTHING);
    expect(parse).toThrow(FetchError);
    expect(parse).toThrow(expect.objectContaining({ kind: "badUrl", message: expect.stringContaining(why) }));
    expect(parse).not.toThrow(/[,:;]/);
  });

  test.each([
    "http://images.test:8080/",
    "http://10.1.2.3:9000/",
    "http://[fd00::1]:9000/",
    "http://[::ffff:10.1.2.3]:9000/",
    "http://may-resolve-to-a-listed-address.test:9000/",
  ])("may be %s if its host may be allowed", (text) => {
    expect(parseImageUrl(text, LISTED).port).not.toBe("");
  });

  test("may have another port only at a listed address", () => {
    expect(() => parseImageUrl("http://11.1.2.3:9000/", LISTED)).toThrow("port 80 or 443");
    expect(() => parseImageUrl("http://[fd00::2]:9000/", LISTED)).toThrow("port 80 or 443");
  });
});

// Only checked, never connected to: these addresses are not loopback.
test.each([
  ["example.org", "93.184.215.14", "", true],
  ["example.org", "93.184.215.14", "443", true],
  ["example.org", "93.184.215.14", "8080", false],
  ["example.org", "10.1.2.3", "8080", true],
  ["example.org", "192.168.1.1", "", false],
  ["images.test", "192.168.1.1", "8080", true],
  ["10.1.2.3", "10.1.2.3", "8080", true],
  ["169.254.169.254", "169.254.169.254", "", false],
])("a connection to %s at %s port %j is allowed: %s", (host, address, port, expected) => {
  expect(mayConnect(LISTED, host, address, port)).toBe(expected);
});
