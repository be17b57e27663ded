import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  FaceService,
  GetFaceVecRequestSchema,
  GetFaceVecResponseSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { findUnavailable } from "../../tools/fuzz/edge/valid-calls.ts";
import { createSeedImages } from "../../tools/fuzz/seed-images.ts";
import { USER } from "../../tools/support/service-process.ts";
import { type EdgeService, startEdgeService } from "../support/edge-service.ts";
import { compileJavaSdk } from "../support/java.ts";
import { installGenerators, PROGRAM_ENV, SDK_PYTHON } from "../support/sdk.ts";

const CALLS = 1_000;
const DEADLINE_SECONDS = 60;
/** 144 KB, so that all calls together far exceed the flow-control window of one connection. */
const PHOTO = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo/sample1.jpg");
/** The first run on a machine downloads and compiles what a client depends on. */
const BUILD_TIMEOUT_MS = 10 * 60_000;
/** Node's client resets its own streams when it buffers more than 10 MB, unless this limit is raised. */
const CLIENT_SESSION_MB = 1_000;

/** The documented outcomes under load: success, overloaded, rate limit, too many bytes in flight. */
const ALLOWED = ["OK", "UNAVAILABLE 5001", "RESOURCE_EXHAUSTED 4005", "RESOURCE_EXHAUSTED 4006"];

const CLIENTS_DIR = join(PACKAGE_ROOT, "test/edge/clients");

/** The number of calls by outcome: OK, or a status with the code of its ErrorInfo or else its message. */
type Outcomes = Readonly<Record<string, number>>;

let service: EdgeService;
beforeEach(async () => {
  service = await startEdgeService();
});
afterEach(() => service.stop("SIGKILL"));

async function expectOnlyDocumented(outcomes: Outcomes): Promise<void> {
  const undocumented = Object.entries(outcomes).filter(([outcome]) => !ALLOWED.includes(outcome));
  expect(Object.fromEntries(undocumented), JSON.stringify(outcomes)).toEqual({});
  expect(Object.values(outcomes).reduce((sum, count) => sum + count, 0)).toBe(CALLS);
  expect(outcomes.OK, "successful calls").toBeGreaterThan(0);
  expect(service.isAlive).toBe(true);
  expect(await service.waitUntilIdle(10_000), "requests in flight").toBe(0);
  expect(await findUnavailable(service.port, USER, (await createSeedImages())[1]!)).toEqual([]);
}

/** Runs a client program in a folder and reads the outcomes that it prints. */
async function runClient(
  folder: string,
  program: string,
  args: readonly string[],
  env = {},
): Promise<Outcomes> {
  const printed = await promisify(execFile)(program, args, {
    cwd: join(PACKAGE_ROOT, folder),
    env: { ...PROGRAM_ENV, ...env },
  }).catch((fault: { stdout: string; stderr: string }) => fault);
  const outcomes = /\{.*\}/.exec(printed.stdout)?.[0];
  if (!outcomes) throw new Error(`${program} prints no outcomes:\n${printed.stdout}${printed.stderr}`);
  return JSON.parse(outcomes);
}

function clientArguments(): string[] {
  return [`127.0.0.1:${service.port}`, USER, PHOTO, String(CALLS), String(DEADLINE_SECONDS)];
}

function count(outcomes: readonly string[]): Outcomes {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** In CI a missing tool fails the test. */
function hasTools(tools: Readonly<Record<string, string>>): boolean {
  const missing = Object.entries(tools).filter(([tool, flag]) => spawnSync(tool, [flag]).status !== 0);
  const isCi = process.env.CI === "true";
  if (missing.length > 0 && !isCi)
    console.warn(`Parallel calls are not tested for want of ${missing.map(([tool]) => tool).join(", ")}.`);
  return missing.length === 0 || isCi;
}

describe("1,000 parallel calls on one connection have documented outcomes only", () => {
  test("by grpc-js", { timeout: 120_000 }, async () => {
    const client = new Client(`127.0.0.1:${service.port}`, credentials.createInsecure(), {
      "grpc-node.max_session_memory": CLIENT_SESSION_MB,
    });
    const metadata = new Metadata();
    metadata.set("user_id", USER);
    const request = create(GetFaceVecRequestSchema, {
      img: { source: { case: "content", value: readFileSync(PHOTO) } },
    });
    const bytes = Buffer.from(toBinary(GetFaceVecRequestSchema, request));
    const call = () =>
      new Promise<string>((resolve) => {
        client.makeUnaryRequest(
          "/face.v1.FaceService/GetFaceVec",
          () => bytes,
          (answer: Buffer) => fromBinary(GetFaceVecResponseSchema, answer),
          request,
          metadata,
          { deadline: Date.now() + DEADLINE_SECONDS * 1_000 },
          (error) => resolve(error ? grpcJsOutcome(error) : "OK"),
        );
      });
    const outcomes = count(await Promise.all(Array.from({ length: CALLS }, call)));
    client.close();
    await expectOnlyDocumented(outcomes);
  });

  test("by connect-node", { timeout: 120_000 }, async () => {
    const baseUrl = `http://127.0.0.1:${service.port}`;
    const sessionManager = new Http2SessionManager(baseUrl, {}, { maxSessionMemory: CLIENT_SESSION_MB });
    const client = createClient(FaceService, createGrpcTransport({ baseUrl, sessionManager }));
    const img = { source: { case: "content" as const, value: readFileSync(PHOTO) } };
    const options = { headers: { user_id: USER }, timeoutMs: DEADLINE_SECONDS * 1_000 };
    const call = () => client.getFaceVec({ img }, options).then(() => "OK", connectOutcome);
    const outcomes = count(await Promise.all(Array.from({ length: CALLS }, call)));
    sessionManager.abort();
    await expectOnlyDocumented(outcomes);
  });

  test.runIf(hasTools({ python3: "--version" }))(
    "by grpcio in Python",
    { timeout: BUILD_TIMEOUT_MS },
    async () => {
      await installGenerators("python");
      const program = join(CLIENTS_DIR, "python/parallel_calls.py");
      const env = { PYTHONPATH: join(PACKAGE_ROOT, "sdks/python/src") };
      await expectOnlyDocumented(await runClient(".", SDK_PYTHON, [program, ...clientArguments()], env));
    },
  );

  test.runIf(hasTools({ go: "version" }))("by grpc-go", { timeout: BUILD_TIMEOUT_MS }, async () => {
    const program = join(CLIENTS_DIR, "go/main.go");
    await expectOnlyDocumented(await runClient("sdks/go", "go", ["run", program, ...clientArguments()]));
  });

  test.runIf(hasTools({ javac: "-version", mvn: "-v" }))(
    "by grpc-java",
    { timeout: BUILD_TIMEOUT_MS },
    async () => {
      // Java compiles and runs a single source file.
      const program = join(CLIENTS_DIR, "java/ParallelCalls.java");
      const args = ["-cp", await compileJavaSdk("mvn"), program, ...clientArguments()];
      await expectOnlyDocumented(await runClient(".", "java", args));
    },
  );
});

function grpcJsOutcome({ code, details, metadata }: ServiceError): string {
  const [bytes] = metadata.get("grpc-status-details-bin");
  const reason = /code\W{2}(\d{4})/.exec(Buffer.from(bytes ?? "").toString("latin1"))?.[1];
  return `${status[code]} ${reason ?? details}`;
}

function connectOutcome(fault: unknown): string {
  const error = ConnectError.from(fault);
  const [info] = error.findDetails(ErrorInfoSchema);
  const name = Code[error.code].replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  return `${name} ${info?.metadata.code ?? error.message}`;
}
