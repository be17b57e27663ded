// Fuzzes a running service with Schemathesis, based on its OpenAPI document. Installs Schemathesis in a cache folder.
// Needs Python 3 with venv, and a built dist/ with the networks (`npm test` leaves both).
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import sharp from "sharp";
import { readConfig } from "../../dist/src/config.js";
import { startService } from "../../dist/src/main.js";

const VERSION = "4.32.5";
const USER = "user-of-the-fuzzer";
const ADMIN_KEY = "admin-key-of-the-fuzzer-0123456789";
const ADMIN_PATHS = "^/v1/admin";
const PHOTO = "node_modules/@vladmandic/face-api/demo/sample2.jpg";
/** A square around one of its faces. */
const FACE = { left: 1390, top: 130, width: 320, height: 320 };

const program = install();
const folder = mkdtempSync(join(tmpdir(), "visage-fuzz-"));
const photo = join(folder, "photo.jpg");
writeFileSync(photo, await sharp(readFileSync(PHOTO)).extract(FACE).toBuffer());
const service = await start();
try {
  const document = `http://127.0.0.1:${service.port}/openapi.json`;
  // The operator's paths come last, because their requests may disable or delete the user.
  const passes = [
    ["--exclude-path-regex", ADMIN_PATHS],
    ["--include-path-regex", ADMIN_PATHS],
  ];
  for (const selection of passes) process.exitCode = (await fuzz(document, selection)) || process.exitCode;
} finally {
  await service.close();
  rmSync(folder, { recursive: true });
}

/** Installs the pinned version if it is missing. Returns the path of its program. */
function install() {
  const venv = resolve(`node_modules/.cache/schemathesis-${VERSION}`);
  const installed = join(venv, "bin/schemathesis");
  if (!existsSync(installed)) {
    execFileSync("python3", ["-m", "venv", "--clear", venv], { stdio: "inherit" });
    const packages = ["install", "--quiet", `schemathesis==${VERSION}`];
    execFileSync(join(venv, "bin/pip"), packages, { stdio: "inherit" });
  }
  return installed;
}

function start() {
  return startService(
    readConfig({
      VISAGE_TRIAL_USER: USER,
      VISAGE_ADMIN_KEY: ADMIN_KEY,
      VISAGE_DATA_DIR: folder,
      VISAGE_HOST: "127.0.0.1",
      VISAGE_PORT: "0",
      VISAGE_LOG_LEVEL: "error",
      VISAGE_FETCH_TIMEOUT_MS: "200",
    }),
  );
}

async function fuzz(document, selection) {
  const config = ["--config-file", resolve(".ci/fuzz/schemathesis.toml")];
  const fuzzer = spawn(program, [...config, "run", document, ...selection], {
    // Schemathesis writes a folder to the working directory.
    cwd: folder,
    stdio: "inherit",
    env: {
      ...process.env,
      PYTHONDONTWRITEBYTECODE: "1",
      SCHEMATHESIS_HOOKS: resolve(".ci/fuzz/hooks.py"),
      VISAGE_FUZZ_PHOTO: photo,
      VISAGE_TRIAL_USER: USER,
      VISAGE_ADMIN_KEY: ADMIN_KEY,
    },
  });
  const [code] = await once(fuzzer, "exit");
  return code ?? 1;
}
