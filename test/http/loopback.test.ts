import { expect, test } from "vitest";
import { isLoopback } from "../../src/http/loopback.ts";

test.each(["localhost", "127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"])("%s is private", (host) => {
  expect(isLoopback(host)).toBe(true);
});

test.each(["0.0.0.0", "::", "10.0.0.1", "2001:db8::1", "example.org", "127.0.0.1.example.org", "0"])(
  "%s is not private",
  (host) => {
    expect(isLoopback(host)).toBe(false);
  },
);
