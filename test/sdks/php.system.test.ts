import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { PHOTOS, runProgram } from "../support/sdk.ts";
import { startTestService, USER } from "../support/service.ts";
import { findTools } from "../support/tools.ts";

const FOLDER = join(PACKAGE_ROOT, "test/sdks/php");
const PHOTO = join(PHOTOS, "sample3.jpg");
const { wanted, paths } = findTools("php");

describe.runIf(wanted)("the example in PHP", () => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.close());
  const example = (key: string, ...photos: string[]) =>
    runProgram(FOLDER, paths.php, ["example.php", `http://127.0.0.1:${service.port}`, key, ...photos]);

  test("calls the four operations and the typed API with files and Base64", async () => {
    expect(await example(USER, PHOTO, PHOTO)).toMatch(
      /^match_faces: match \(0\.\d{4}\)\ncompare_faces: [01]\.\d{4}\nget_image_attr: 3 faces, 1920 x 1350 pixels\nget_face_vec: 128 numbers\nanalyze: 3 faces, \d usable\n$/,
    );
  });

  test("reports the reason and the image of an error", async () => {
    const noImage = join(FOLDER, "example.php");
    await expect(example(USER, PHOTO, noImage)).rejects.toThrow(
      /^UNSUPPORTED_FORMAT 2004, image: img_2, retryable: false: /m,
    );
    await expect(example("nobody", PHOTO, PHOTO)).rejects.toThrow(/^UNKNOWN_USER 4002, /m);
  });
});
