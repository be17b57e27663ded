import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { createListenError } from "../../src/http/listen-error.ts";
import { type ServerOptions, startServer } from "../../src/http/server.ts";

/** Starts a server that cannot listen. Its other parts are never used. */
function startOn(host: string, port: number) {
  const config = { ...readConfig({}), host, port };
  const pool = { size: 1, rejectionFor: () => undefined };
  return startServer({ config, services: [], pool, observers: [] } as unknown as ServerOptions);
}

test("a port in use fails the start with one sentence", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  await expect(startOn("127.0.0.1", port)).rejects.toThrow(
    new Error(
      `The service cannot listen on 127.0.0.1:${port}: another program uses this port; VISAGE_HOST and VISAGE_PORT select another address`,
    ),
  );
});

test("an address of another machine fails the start with one sentence", async () => {
  await expect(startOn("192.0.2.1", 8080)).rejects.toThrow(
    "The service cannot listen on 192.0.2.1:8080: this machine does not have this address;",
  );
});

test("a port that needs privileges is named, and an unknown cause is kept", () => {
  const address = { host: "::1", port: 80, settings: "A and B" };
  const denied = Object.assign(new Error("listen EACCES"), { code: "EACCES" });
  expect(createListenError("It", address, denied).message).toBe(
    "It cannot listen on [::1]:80: this user may not use this port; A and B select another address",
  );
  expect(createListenError("It", address, new Error("listen EWHAT")).message).toContain(": listen EWHAT; ");
});
