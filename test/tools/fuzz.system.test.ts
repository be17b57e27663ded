import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { generateCases } from "../../tools/fuzz/cases.ts";
import { runCase, runCases } from "../../tools/fuzz/run-cases.ts";
import { createSeedImages } from "../../tools/fuzz/seed-images.ts";
import { type ServiceProcess, startServiceProcess } from "../../tools/support/service-process.ts";

const SEED = 20_260_101;
const COUNT = 2000;

let images: readonly Buffer[];
let service: ServiceProcess;
beforeAll(async () => {
  images = await createSeedImages();
  service = await startServiceProcess({ VISAGE_WORKERS: "2" });
});
afterAll(() => service.stop());

test("the same seed gives the same cases, and another seed gives other cases", () => {
  const requests = (seed: number) =>
    [...generateCases(seed, images, 50)].map(({ request }) => request.toString("hex"));
  expect(requests(SEED)).toEqual(requests(SEED));
  expect(new Set([...requests(SEED), ...requests(SEED + 1)]).size).toBe(100);
});

test("every mutated request gets a valid response, and no worker exits", async () => {
  const { workers } = service;
  const faults: string[] = [];
  const tried = await runCases(service.port, generateCases(SEED, images, COUNT), ({ failed, fault }) =>
    faults.push(`${failed.name}: ${fault}`),
  );
  expect(faults).toEqual([]);
  expect(tried).toBe(COUNT);
  expect(service.workers).toEqual(workers);
}, 120_000);

const ENVELOPE = '{"status":"error","code":"2003","success":false,"message":"?","data":{}}';
test.each([
  ["a valid error response", "400 Bad Request", ENVELOPE, undefined],
  ["a status that does not belong to the code", "200 OK", ENVELOPE, /not in the error table/],
  [
    "an internal error",
    "500 Internal Server Error",
    ENVELOPE.replace("2003", "5000"),
    /not in the error table/,
  ],
  ["an unknown code", "400 Bad Request", ENVELOPE.replace("2003", "2999"), /not in the error table/],
  ["an error marked as a success", "400 Bad Request", ENVELOPE.replace("false", "true"), /contradicts/],
  ["a missing key", "400 Bad Request", ENVELOPE.replace(',"data":{}', ""), /envelope/],
  ["an HTML page", "400 Bad Request", "<html>", /envelope/],
  ["no response", "", "", /without a response/],
])("the fuzzer judges %s correctly", async (_name, status, body, expected) => {
  const response = status && `HTTP/1.1 ${status}\r\nX-Request-Id: id-1\r\n\r\n${body}`;
  const server = createServer((socket) => socket.once("data", () => socket.end(response)));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const fault = await runCase(port, { name: "one", isValidHttp: true, request: Buffer.from("?") });
  server.close();
  if (expected) expect(fault).toMatch(expected);
  else expect(fault).toBeUndefined();
});
