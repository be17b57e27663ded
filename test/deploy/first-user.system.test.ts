import { execFile } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { trialUserPath } from "../../src/accounts/trial-user.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { freePort } from "../../tools/support/free-port.ts";
import { startServiceProcess } from "../../tools/support/service-process.ts";
import { readMarkdown, sectionUnder } from "../support/markdown.ts";
import { requestFaceVector } from "../support/service.ts";
import { readImage } from "./dockerfile.ts";

const CLI = "dist/src/cli/main.js";

test.each(["Container", "Compose"])("the %s commands add the first user of the image", async (heading) => {
  const { env } = readImage();
  const dataDir = mkdtempSync(join(tmpdir(), "visage-first-user-"));
  const port = await freePort();
  const service = await startServiceProcess({
    ...env,
    VISAGE_DATA_DIR: dataDir,
    VISAGE_TRIAL_USER: "",
    VISAGE_PORT: String(port),
    VISAGE_METRICS_PORT: "off",
    VISAGE_WORKERS: "1",
  });
  onTestFinished(() => service.stop());
  expect(existsSync(trialUserPath(dataDir))).toBe(false);

  const [, args] = new RegExp(`${CLI} (users add .*)`).exec(
    sectionUnder(readMarkdown("deploy/README.md"), heading),
  )!;
  const command = [join(PACKAGE_ROOT, CLI), ...args!.split(" ")];
  const { stdout } = await promisify(execFile)(process.execPath, command, {
    env: { VISAGE_DATA_DIR: dataDir },
  });
  const [key] = /vsg_\w+/.exec(stdout)!;
  expect(await requestFaceVector({ port }, key)).toBe(200);
});
