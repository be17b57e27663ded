import { describe, expect, test } from "vitest";
import { clientAddressOf, parseTrustedProxies } from "../../src/http/client-address.ts";

const TRUSTED = parseTrustedProxies("10.0.0.0/8, 192.168.1.7,2001:db8:1::/48, ::1");

describe("the address of a client", () => {
  test.each<[string, string, string | undefined, string]>([
    ["is the socket's without a proxy", "203.0.113.5", undefined, "203.0.113.5"],
    ["is the socket's if an untrusted peer claims another", "203.0.113.5", "1.2.3.4", "203.0.113.5"],
    ["is the one that a trusted proxy names", "10.1.2.3", "203.0.113.5", "203.0.113.5"],
    [
      "is the last address that is not trusted",
      "10.1.2.3",
      "1.1.1.1, 203.0.113.5, 192.168.1.7",
      "203.0.113.5",
    ],
    ["is not one that the client has forged", "10.1.2.3", "127.0.0.1, 10.9.9.9, 203.0.113.5", "203.0.113.5"],
    ["is the first if all are trusted", "10.1.2.3", "10.0.0.1,10.0.0.2", "10.0.0.1"],
    ["is the proxy's without the header", "10.1.2.3", undefined, "10.1.2.3"],
    ["is the proxy's if the header is empty", "10.1.2.3", "", "10.1.2.3"],
    [
      "is that of the last hop after an entry that is not an address",
      "10.1.2.3",
      "1.1.1.1, unknown, 10.4.4.4",
      "10.4.4.4",
    ],
    ["is not read from a number", "10.1.2.3", "16909060", "10.1.2.3"],
    ["is not read from octal or hexadecimal", "10.1.2.3", "0x7f.1", "10.1.2.3"],
    ["is found behind an IPv4-mapped proxy", "::ffff:10.1.2.3", "203.0.113.5", "203.0.113.5"],
    ["is IPv4 if the socket's is IPv4-mapped", "::ffff:203.0.113.5", undefined, "203.0.113.5"],
    ["is IPv4 if a hop is IPv4-mapped", "10.1.2.3", "::ffff:cb00:7105", "203.0.113.5"],
    ["is normalized", "::1", "2001:DB8:0:0::00ff", "2001:db8::ff"],
    ["is read without its port", "10.1.2.3", "203.0.113.5:4711", "203.0.113.5"],
    ["is read without brackets and port", "10.1.2.3", "[2001:db8::5]:4711", "2001:db8::5"],
    ["is read without brackets", "10.1.2.3", "[2001:db8::5]", "2001:db8::5"],
    ["is found behind IPv6 proxies", "2001:db8:1::9", "203.0.113.5, 2001:db8:1:ffff::1", "203.0.113.5"],
    ["is the socket's outside of the trusted ranges", "2001:db8:2::9", "203.0.113.5", "2001:db8:2::9"],
    ["is not one with a zone", "10.1.2.3", `fe80::1%${"z".repeat(9_000)}`, "10.1.2.3"],
    ["is not one with a zone in brackets", "10.1.2.3", "[fe80::1%eth0]:80", "10.1.2.3"],
    ["is unchanged if it cannot be parsed", "", "203.0.113.5", ""],
  ])("%s", (_, socketAddress, forwardedFor, client) => {
    expect(clientAddressOf(socketAddress, forwardedFor, TRUSTED)).toBe(client);
  });

  test("is the socket's if no proxy is trusted", () => {
    expect(clientAddressOf("10.1.2.3", "203.0.113.5", [])).toBe("10.1.2.3");
  });
});

describe("trusted proxies", () => {
  test.each([
    ["0.0.0.0/0", "198.51.100.1"],
    ["::/0", "2001:db8::1"],
    ["::ffff:10.0.0.0/104", "10.200.0.1"],
    ["10.1.2.3/8", "10.200.0.1"],
    ["fe80::/10", "fe80::1"],
  ])("%s contains %s", (text, proxy) => {
    expect(clientAddressOf(proxy, "203.0.113.5", parseTrustedProxies(text))).toBe("203.0.113.5");
  });

  test.each([
    ["10.0.0.0/33", "10.0.0.0/33"],
    ["::1/129", "::1/129"],
    ["::ffff:10.0.0.0/8", "::ffff:10.0.0.0/8"],
    ["10.0.0.0/-1", "10.0.0.0/-1"],
    ["10.0.0.0/", "10.0.0.0/"],
    ["10/8", "10/8"],
    ["10.0.0.0/8,proxy.example.org", "proxy.example.org"],
    ["10.0.0.0/8,", ""],
  ])("cannot be %s", (text, wrong) => {
    expect(() => parseTrustedProxies(text)).toThrow(
      `must be addresses or ranges such as 10.0.0.0/8, separated by commas, not "${wrong}"`,
    );
  });
});
