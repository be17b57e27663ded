import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { casesOf } from "../../tools/fuzz/cases.ts";
import { makeImages } from "../../tools/fuzz/images.ts";
import { faultOf } from "../../tools/fuzz/property.ts";
import { tryCases } from "../../tools/fuzz/run.ts";
import { type ServiceProcess, startServiceProcess } from "../../tools/support/service-process.ts";

const SEED = 20_260_101;
const COUNT = 2000;

let images: readonly Buffer[];
let service: ServiceProcess;
beforeAll(async () => {
  images = await makeImages();
  service = await startServiceProcess({ VISAGE_WORKERS: "2" });
});
afterAll(() => service.stop());

test("a seed gives the same cases each time, and another seed gives others", () => {
  const requests = (seed: number) =>
    [...casesOf(seed, images, 50)].map(({ request }) => request.toString("hex"));
  expect(requests(SEED)).toEqual(requests(SEED));
  expect(new Set([...requests(SEED), ...requests(SEED + 1)]).size).toBe(100);
});

test("requests that are broken in any way are answered in order, and no worker dies of them", async () => {
  const { workers } = service;
  const faults: string[] = [];
  const tried = await tryCases(service.port, casesOf(SEED, images, COUNT), ({ failed, fault }) =>
    faults.push(`${failed.name}: ${fault}`),
  );
  expect(faults).toEqual([]);
  expect(tried).toBe(COUNT);
  expect(service.workers).toEqual(workers);
}, 120_000);

const ENVELOPE = '{"status":"error","code":"2003","success":false,"message":"?","data":{}}';
test.each([
  ["an answer that is right", "400 Bad Request", ENVELOPE, undefined],
  ["another status than the table's", "200 OK", ENVELOPE, /outcome/],
  ["an internal error", "500 Internal Server Error", ENVELOPE.replace("2003", "5000"), /outcome/],
  ["an unknown code", "400 Bad Request", ENVELOPE.replace("2003", "2999"), /outcome/],
  [
    "an error that calls itself a success",
    "400 Bad Request",
    ENVELOPE.replace("false", "true"),
    /contradicts/,
  ],
  ["a missing key", "400 Bad Request", ENVELOPE.replace(',"data":{}', ""), /envelope/],
  ["a page", "400 Bad Request", "<html>", /envelope/],
  ["silence", "", "", /without an answer/],
])("of %s the fuzzer thinks what it should", async (_name, status, body, expected) => {
  const answer = status && `HTTP/1.1 ${status}\r\nX-Request-Id: id-1\r\n\r\n${body}`;
  const server = createServer((socket) => socket.once("data", () => socket.end(answer)));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const fault = await faultOf(port, { name: "one", isSound: true, request: Buffer.from("?") });
  server.close();
  if (expected) expect(fault).toMatch(expected);
  else expect(fault).toBeUndefined();
});
