import { describe, expect, test } from "vitest";
import { keysFromHeaders } from "../../src/http/credentials.ts";

const keysOf = (...rawHeaders: string[]) => keysFromHeaders({ rawHeaders });

describe("the keys of a request", () => {
  test.each([
    ["user_id", "key-of-anna"],
    ["User_Id", "key-of-anna"],
    ["X-Api-Key", "key-of-anna"],
    ["Authorization", "Bearer key-of-anna"],
    ["authorization", "bearer   key-of-anna "],
  ])("come from %s: %s", (name, value) => {
    expect(keysOf("Host", "a", name, value, "Accept", "*/*")).toEqual(["key-of-anna"]);
  });

  test.each([
    ["no header", []],
    ["empty headers", ["user_id", "", "x-api-key", ""]],
    ["another scheme", ["authorization", "Basic YW5uYTprZXk="]],
    ["no token", ["authorization", "Bearer "]],
    ["two tokens", ["authorization", "Bearer a b"]],
    ["a scheme with a longer name", ["authorization", "Bearers key"]],
    ["the second key of the original service", ["user_key", "key"]],
  ])("are none with %s", (_, headers) => {
    expect(keysOf(...headers)).toEqual([]);
  });

  test("are distinct", () => {
    expect(keysOf("user_id", "a", "x-api-key", "a", "authorization", "Bearer a")).toEqual(["a"]);
    expect(keysOf("user_id", "a", "x-api-key", "b", "authorization", "Bearer c")).toEqual(["a", "b", "c"]);
  });

  test("include every repetition of a header", () => {
    expect(keysOf("authorization", "Bearer a", "Authorization", "Bearer b")).toEqual(["a", "b"]);
    expect(keysOf("user_id", "a", "user_id", "b")).toEqual(["a", "b"]);
  });
});
