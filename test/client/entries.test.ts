import { expect, expectTypeOf, test } from "vitest";
import * as node from "../../src/client/visage-client.ts";
import * as web from "../../src/client/web-client.ts";

test("the entries for Node and browsers have the same exports", () => {
  // The package has one set of types for both.
  const sameTypes: typeof node = web;
  expect(Object.keys(sameTypes).sort()).toEqual(Object.keys(node).sort());
});

test("the reasons of errors are known to editors, narrowed by comparisons, and open", () => {
  type Reason = node.VisageError["reason"];
  expectTypeOf<Extract<Reason, node.Reason>>().toEqualTypeOf<node.Reason>();
  expectTypeOf<"NO_FACE" | "UNREADABLE_IMAGE">().toExtend<node.Reason>();
  expectTypeOf<"NO_SUCH_REASON">().not.toExtend<node.Reason>();
  expectTypeOf<string>().toExtend<Reason>();
  const other = ({ reason }: node.VisageError) => (reason === "NO_FACE" ? "NO_FACE_IN_BOX" : reason);
  expectTypeOf<Extract<ReturnType<typeof other>, node.Reason>>().toEqualTypeOf<
    Exclude<node.Reason, "NO_FACE">
  >();
});

test.each(["ca", "clientCertificate", "clientKey"] as const)("a browser rejects the option %s", (name) => {
  expect(() => web.createVisageClient({ address: "http://localhost:8080", [name]: "PEM" })).toThrow(
    `The option ${name} does not work in a browser.`,
  );
});

test("a browser rejects streams", async () => {
  const client = web.createVisageClient({ address: "http://localhost:8080" });
  expect(() => client.analyzeImages([])).toThrow("A browser cannot stream requests.");
  await expect(client.galleries.importFaces("g", [])).rejects.toThrow("A browser cannot stream requests.");
});

test.each([
  { timeoutMs: 0 },
  { timeoutMs: Number.POSITIVE_INFINITY },
  { retries: -1 },
  { maxInFlight: 0 },
  { maxInFlight: 1.5 },
])("the options %o are out of range", (options) => {
  const [name] = Object.keys(options);
  expect(() => node.createVisageClient({ address: "http://localhost:8080", ...options })).toThrow(
    new RegExp(`^${name} must be an integer from`),
  );
});

test.each(["", "a\nb", "a b", "schlüssel"])(
  "the API key %j, which no header can hold, is rejected",
  (apiKey) => {
    expect(() => node.createVisageClient({ address: "http://localhost:8080", apiKey })).toThrow(
      "The API key must be ASCII text without spaces.",
    );
  },
);
