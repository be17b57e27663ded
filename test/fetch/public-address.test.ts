import { describe, expect, test } from "vitest";
import { isPublicAddress } from "../../src/fetch/public-address.ts";

/** The first and last address of each range that is not public, and well-known addresses inside. */
const NOT_PUBLIC: Readonly<Record<string, readonly string[]>> = {
  unspecified: ["0.0.0.0", "0.0.0.1", "0.255.255.255", "::"],
  loopback: ["127.0.0.1", "127.0.0.0", "127.255.255.255", "::1"],
  private: ["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"],
  "shared (CGNAT)": ["100.64.0.0", "100.127.255.255", "100.100.100.200"],
  "link-local and metadata": ["169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::1", "febf::1"],
  "unique local and metadata": ["fc00::", "fd00:ec2::254", "fd20:ce::254", "fdff:ffff::1"],
  "site-local": ["fec0::1", "feff::1"],
  multicast: ["224.0.0.0", "239.255.255.255", "ff02::1", "ff0e::1"],
  "broadcast and reserved": ["255.255.255.255", "240.0.0.0", "250.1.2.3"],
  "protocol assignments": ["192.0.0.0", "192.0.0.192", "192.0.0.255", "2001:1::1", "2001:1ff::1"],
  documentation: ["192.0.2.1", "198.51.100.1", "203.0.113.255", "2001:db8::1", "3fff::1", "3fff:fff::1"],
  benchmarking: ["198.18.0.0", "198.19.255.255", "2001:2::1"],
  "6to4 relay": ["192.88.99.1"],
  "anycast sinks": ["192.175.48.1", "192.31.196.1", "192.52.193.1", "2620:4f:8000::1"],
  "Azure's wire server": ["168.63.129.16"],
  discard: ["100::1", "100:0:0:1::1"],
  ORCHID: ["2001:10::1", "2001:20::1", "2001:2f::1", "2001:30::1"],
  "segment routing": ["5f00::1"],
  "IPv4-mapped": ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:8.8.8.8", "0:0:0:0:0:ffff:a9fe:a9fe"],
  "IPv4-compatible": ["::127.0.0.1", "::8.8.8.8", "::a9fe:a9fe"],
  "IPv4-translated": ["::ffff:0:127.0.0.1", "::ffff:0:808:808"],
  "6to4": ["2002:7f00:1::", "2002:a00:1::1", "2002:808:808::1"],
  NAT64: ["64:ff9b::127.0.0.1", "64:ff9b::808:808", "64:ff9b:1::a00:1", "64:ff9b:1:ffff::1"],
  Teredo: ["2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
  ISATAP: ["2600::5efe:7f00:1", "2600::5efe:10.0.0.1", "2a00:1450::200:5efe:a00:1", "fe80::5efe:a00:1"],
  unassigned: ["1::1", "200::1", "1fff::1", "4000::1", "8000::1", "e000::1"],
};

const PUBLIC = [
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "93.184.215.14",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.1",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2001:200::1",
  "2001:4860:4860::8888",
  "2003::1",
  "2606:4700:4700::1111",
  "2a00:1450:4001:82a::200e",
  "2a00:1450::5efe:0:1:2",
  "3ffe::1",
];

describe("not public:", () => {
  test.each(Object.entries(NOT_PUBLIC))("%s", (_, addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([]);
  });

  test.each([
    ["zones", ["fe80::1%eth0", "2606:4700::1%1", "2606:4700::1%25eth0"]],
    ["IPv4 in other notations", ["134744072", "0x08080808", "8.8.2056", "010.8.8.8", "8.8.8.8.", " 8.8.8.8"]],
    [
      "text that is not an address",
      ["", "example.org", "8.8.8", "8.8.8.256", "[2606:4700::1]", "8.8.8.8/32", "::g", "8.8.8.8:80"],
    ],
  ])("%s", (_, texts) => {
    expect(texts.filter(isPublicAddress)).toEqual([]);
  });
});

test.each(PUBLIC)("%s is public", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

describe("URLs normalize every notation to an address that is not public:", () => {
  test.each([
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.0.0.1./",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://%31%32%37.0.0.1/",
    "http://0/",
    "http://0xa9fea9fe/",
    "http://2852039166/",
    "http://[::ffff:127.0.0.1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[64:ff9b::169.254.169.254]/",
  ])("%s", (text) => {
    const host = new URL(text).hostname.replace(/^\[|\]$/g, "");
    expect(host).toMatch(/^[\d.]+$|:/);
    expect(isPublicAddress(host)).toBe(false);
  });
});
