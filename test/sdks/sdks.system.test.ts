import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

/** The first run on a machine downloads and compiles the dependencies of each SDK. */
const TIMEOUT_MS = 15 * 60_000;
const PHOTOS = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo");
// In CI a missing program must fail the tests.
const isCi = process.env.CI === "true";

let service: RunningService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** Runs a program in a folder and returns its output. Throws an error with the output if the program fails. */
async function run(folder: string, program: string, ...args: string[]): Promise<string> {
  const env = {
    ...process.env,
    VISAGE_ADDRESS: `127.0.0.1:${service.port}`,
    VISAGE_USER_ID: USER,
    VISAGE_PHOTOS: PHOTOS,
  };
  try {
    return (await promisify(execFile)(program, args, { cwd: join(PACKAGE_ROOT, folder), env })).stdout;
  } catch (fault) {
    const { stdout, stderr } = fault as { stdout: string; stderr: string };
    throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: fault });
  }
}

/** Arguments for an example, which compares two photographs of one woman. */
function exampleArguments(): string[] {
  return [`127.0.0.1:${service.port}`, USER, join(PHOTOS, "sample3.jpg"), join(PHOTOS, "sample3.jpg")];
}

function hasTools(tools: Readonly<Record<string, string>>): boolean {
  const missing = Object.entries(tools).filter(([tool, flag]) => spawnSync(tool, [flag]).status !== 0);
  if (missing.length > 0 && !isCi)
    console.warn(`Tests of an SDK are skipped. Not installed: ${missing.map(([tool]) => tool).join(", ")}.`);
  return missing.length === 0 || isCi;
}

describe("the SDK in TypeScript", () => {
  test("calls the service in its example", async () => {
    const example = (...args: string[]) =>
      run(".", process.execPath, "dist/sdks/typescript/example.js", ...args);
    expect(await example(...exampleArguments())).toMatch(/^match: 0\.\d{4}$/m);
    const [address, , ...photos] = exampleArguments();
    await expect(example(address!, "nobody", ...photos)).rejects.toThrow(/^UNKNOWN_USER The key/m);
  });

  test("is exported by the package", async () => {
    const program = 'console.log((await import("visage/gen/face/v1/face_pb")).FaceService.typeName)';
    expect(await run(".", process.execPath, "--input-type=module", "--eval", program)).toBe(
      "face.v1.FaceService\n",
    );
  });

  const content = (value: Uint8Array) => ({ source: { case: "content" as const, value } });

  describe.each<readonly [string, (baseUrl: string) => Transport]>([
    [
      "gRPC by connect-node",
      (baseUrl) => {
        const sessionManager = new Http2SessionManager(baseUrl);
        onTestFinished(() => sessionManager.abort());
        return createGrpcTransport({ baseUrl, sessionManager });
      },
    ],
    ["gRPC-Web by connect-web", (baseUrl) => createGrpcWebTransport({ baseUrl })],
    ["Connect by connect-web", (baseUrl) => createConnectTransport({ baseUrl })],
  ])("over %s", (_, transportTo) => {
    const client = () => createClient(FaceService, transportTo(`http://127.0.0.1:${service.port}`));
    const call = { headers: { user_id: USER } };

    test("matches two photographs", async () => {
      const request = { img1: content(photograph(3)), img2: content(photograph(3)) };
      const { success, data } = await client().matchFaces(request, call);
      expect({ success, data }).toMatchObject({
        success: true,
        data: { status: "match", score: expect.stringMatching(/^0\.\d{4}$/) },
      });
    });

    test("returns the vector of a face", async () => {
      const { data } = await client().getFaceVec({ img: content(photograph(1)) }, call);
      expect(data!.vector).toHaveLength(128);
    });

    test("returns every face", async () => {
      const { data } = await client().getImageAttr({ imageAttr: content(photograph(1)) }, call);
      const { faces, imageSize } = data!.attributes!;
      expect(imageSize).toEqual([1280, 1920]);
      expect(Object.keys(faces)).toHaveLength(3);
      expect(Object.keys(faces.face_id_0!.landmarks!.faceLandMark)).toHaveLength(68);
    });

    test("returns the reason of an error", async () => {
      const noImage = content(Buffer.from("no image"));
      const error = await client()
        .getFaceVec({ img: noImage }, call)
        .then(() => undefined, ConnectError.from);
      expect(error?.code).toBe(Code.InvalidArgument);
      expect(error?.findDetails(ErrorInfoSchema)).toMatchObject([
        { reason: "UNSUPPORTED_FORMAT", metadata: { code: "2004" } },
      ]);
    });

    test("ends at the deadline", async () => {
      const late = client().getFaceVec({ img: content(photograph(1)) }, { ...call, timeoutMs: 1 });
      await expect(late).rejects.toMatchObject({ code: Code.DeadlineExceeded });
    });
  });
});

describe.skipIf(!hasTools({ go: "version" }))("the SDK in Go", { timeout: TIMEOUT_MS }, () => {
  test("calls the service over gRPC and Connect", async () => {
    // Go would reuse results of a run against another server.
    await run("sdks/go", "go", "test", "-count=1", "./...");
    expect(await run("sdks/go", "go", "run", "./example", ...exampleArguments())).toMatch(
      /^match: 0\.\d{4}$/m,
    );
  });
});
