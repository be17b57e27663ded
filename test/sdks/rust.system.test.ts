import { spawnSync } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { PHOTOS, runProgram, SDK_TIMEOUT_MS } from "../support/sdk.ts";
import { startTestService, USER } from "../support/service.ts";
import { findTools, TOOLS_DIR } from "../support/tools.ts";

const SOURCE = join(PACKAGE_ROOT, "test/sdks/rust");
/** A place that stays the same, so that only what changed is compiled again. */
const FOLDER = join(TOOLS_DIR, "rust-example");
const PROGRAM = join(FOLDER, "target/debug/visage-example");
const PHOTO = join(PHOTOS, "sample3.jpg");

const { wanted, paths } = findTools("cargo");

/** Whether this is the Rust 1.88 that tonic needs, or newer. In CI an old one must fail the tests. */
function isNewEnough(): boolean {
  const { stdout } = spawnSync(paths.cargo, ["--version"], { encoding: "utf8" });
  const minor = Number(/^cargo 1\.(\d+)\./.exec(stdout ?? "")?.[1] ?? 0);
  if (minor < 88) console.warn("The example in Rust needs Rust 1.88 and is skipped (see .ci/install).");
  return minor >= 88 || process.env.CI === "true";
}

describe.runIf(wanted && isNewEnough())("the example in Rust", { timeout: SDK_TIMEOUT_MS }, () => {
  let service: RunningService;
  let address: string;
  beforeAll(async () => {
    service = await startTestService();
    address = `http://127.0.0.1:${service.port}`;
    cpSync(SOURCE, FOLDER, { recursive: true, filter: (path) => !path.includes("/target") });
    const descriptors = await fetch(`${address}/descriptors.binpb`);
    writeFileSync(join(FOLDER, "descriptors.binpb"), new Uint8Array(await descriptors.arrayBuffer()));
    await runProgram(FOLDER, paths.cargo, ["build", "--quiet", "--locked"], { RUSTFLAGS: "-D warnings" });
  }, SDK_TIMEOUT_MS);
  afterAll(() => service.close());

  test("calls the four operations and the typed API", async () => {
    expect(await runProgram(FOLDER, PROGRAM, [address, USER, PHOTO, PHOTO])).toMatch(
      /^match_faces: match \(0\.\d{4}\)\ncompare_faces: [01]\.\d{4}\nget_image_attr: 3 faces, image size \[1350, 1920\]\nget_face_vec: 128 numbers\nanalyze_image: 3 faces\n$/,
    );
  });

  test("reports the reason and the field of an error", async () => {
    const noImage = join(SOURCE, "Cargo.toml");
    await expect(runProgram(FOLDER, PROGRAM, [address, USER, PHOTO, noImage])).rejects.toThrow(
      /UNSUPPORTED_FORMAT 2004, field: img_2, retryable: false after 0 ms: /,
    );
    await expect(runProgram(FOLDER, PROGRAM, [address, "nobody", PHOTO, PHOTO])).rejects.toThrow(
      /UNKNOWN_USER 4002, /,
    );
  });
});
