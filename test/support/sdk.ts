import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { Environment } from "../../src/config.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { withLock } from "../../tools/process-lock.mjs";
import { addTestUser } from "./accounts.ts";
import { SAMPLES } from "./faces.ts";
import { jpegSegment, smallPortrait, withSegments } from "./images.ts";
import { startTestService, USER } from "./service.ts";

/** The first run on a machine downloads and compiles the dependencies of each SDK. */
export const SDK_TIMEOUT_MS = 15 * 60_000;

/** The folder of the photographs `sample1.jpg` (144 KB) to `sample6.jpg`. */
export const PHOTOS = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo");

const SDK_TOOLS = join(PACKAGE_ROOT, "node_modules/.cache/sdk-tools");

/** Python with the packages of sdks/python/requirements-dev.txt. */
export const SDK_PYTHON = join(SDK_TOOLS, "python/bin/python");

/** The JPEG marker of a comment, and how long one may be. */
const COMMENT = { marker: 0xfe, bytes: 60_000 };

/** The environment of programs in other languages. */
export const PROGRAM_ENV = {
  ...process.env,
  PYTHONDONTWRITEBYTECODE: "1",
  // A JVM of a test ends before its optimizing compiler pays off: without it, Maven takes a third of the CPU time.
  JAVA_TOOL_OPTIONS: `${process.env.JAVA_TOOL_OPTIONS ?? ""} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC`.trim(),
  // Nobody debugs the Rust programs, and debug information takes time to write.
  CARGO_PROFILE_DEV_DEBUG: "0",
};

/** A service for the tests of an SDK. */
export interface SdkService {
  readonly address: string;
  /**
   * What the tests of the SDKs read: the address, the keys of two users, and a folder with the photographs and
   * `portrait.jpg`, one face in 124 KB that takes little CPU time.
   */
  readonly testEnv: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
}

/** Starts a service that accepts two users. */
export async function startSdkService(env: Environment = {}): Promise<SdkService> {
  const dataDir = await mkdtemp(join(tmpdir(), "visage-sdk-"));
  const otherUser = "another-user-of-tests";
  const store = await openAccountStore({ databaseUrl: undefined, dataDir });
  await addTestUser(store, otherUser);
  await store.close();
  const photos = await mkdtemp(join(tmpdir(), "visage-photos-"));
  for (const name of SAMPLES.map((sample) => `sample${sample}.jpg`))
    await symlink(join(PHOTOS, name), join(photos, name));
  const comment = jpegSegment(COMMENT.marker, Buffer.alloc(COMMENT.bytes));
  await writeFile(join(photos, "portrait.jpg"), withSegments(await smallPortrait(), comment, comment));
  const service = await startTestService({ VISAGE_DATA_DIR: dataDir, ...env });
  const address = `http://127.0.0.1:${service.port}`;
  return {
    address,
    testEnv: {
      VISAGE_ADDRESS: address,
      VISAGE_API_KEY: USER,
      VISAGE_OTHER_API_KEY: otherUser,
      VISAGE_PHOTOS: photos,
    },
    close: async () => {
      await service.close();
      for (const folder of [dataDir, photos]) await rm(folder, { recursive: true });
    },
  };
}

/** Installs the pinned generators of a language, unless another test file has. */
export async function installGenerators(language: string): Promise<void> {
  await withLock(join(SDK_TOOLS, `${language}.lock`), () =>
    runProgram(PACKAGE_ROOT, process.execPath, ["tools/install-sdk-tools.mjs", language]),
  );
}

/** Runs a program in a folder and returns its output. Throws an error with the output if the program fails. */
export async function runProgram(
  folder: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const options = { cwd: folder, env: { ...PROGRAM_ENV, ...env } };
  try {
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (fault) {
    const { stdout, stderr } = fault as { stdout: string; stderr: string };
    throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: fault });
  }
}
