// `npm run check`: everything that can be wrong without running the program. All parts run, also
// after one has failed, so that one run shows all there is to mend.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GENERATED, generateSdks, hasSdkTools, installSdkTools } from "./sdk-tools.mjs";

const parts = [
  ["types", () => run("tsc", "--noEmit", "--project", "test/tsconfig.json")],
  ["types of the page", () => run("tsc", "--noEmit", "--project", "src/web/playground/tsconfig.json")],
  ["lint and format", () => run("biome", "check", "--error-on-warnings", ".")],
  ["proto lint", () => run("buf", "lint", "proto")],
  ["proto format", () => run("buf", "format", "--diff", "--exit-code", "proto")],
  ["proto compatibility", contractIsKept],
  ["generated code", generatedIsCurrent],
  ["generated SDKs", sdksAreCurrent],
  ["OpenAPI document", openApiIsCurrent],
  ["OpenAPI lint", openApiIsSound],
  [
    "layers and file names",
    () =>
      run(
        "vitest",
        "run",
        "--config",
        "test/vitest.config.ts",
        "test/layers.test.ts",
        "test/file-names.test.ts",
      ),
  ],
];

for (const [name, part] of parts) {
  const passed = await part();
  console.log(`check: ${name} ${passed ? "ok" : "FAILED"}`);
  if (!passed) process.exitCode = 1;
}

function run(tool, ...args) {
  return runProgram(join("node_modules/.bin", tool), args);
}

function runNode(...args) {
  return runProgram(process.execPath, args);
}

function runProgram(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: "utf8",
    shell: process.platform === "win32",
    env: {
      ...process.env,
      PATH: `${join(process.cwd(), "node_modules/.bin")}:${process.env.PATH}`,
      // The linter would tell its makers that it was used.
      REDOCLY_TELEMETRY: "off",
      REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
    },
  });
  if (status !== 0) console.log(`${stdout}${stderr}`);
  return status === 0;
}

/** Compares the contract with that of the last release, in a work tree that sees our node_modules. */
function contractIsKept() {
  const git = (...args) => spawnSync("git", args, { encoding: "utf8" });
  const release = git("describe", "--tags", "--abbrev=0", "--match", "v*").stdout.trim();
  if (!release) {
    console.log("check: no release yet to compare the contract with");
    return true;
  }
  const folder = mkdtempSync(join(tmpdir(), "visage-release-"));
  try {
    git("worktree", "add", "--detach", join(folder, "tree"), release);
    symlinkSync(join(process.cwd(), "node_modules"), join(folder, "tree/node_modules"));
    return run("buf", "breaking", "proto", "--against", join(folder, "tree/proto"));
  } finally {
    git("worktree", "remove", "--force", join(folder, "tree"));
    rmSync(folder, { recursive: true, force: true });
  }
}

function generatedIsCurrent() {
  const fresh = mkdtempSync(join(tmpdir(), "visage-gen-"));
  try {
    if (!run("buf", "generate", "--template", "proto/buf.gen.yaml", "--output", fresh)) return false;
    const stale = differing(join(fresh, "gen/ts"), "gen/ts");
    for (const path of stale) console.log(`gen/ts/${path} is not what "npm run generate" makes`);
    return stale.length === 0;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Looks at the other languages where their generators are, which CI installs and others need not. */
async function sdksAreCurrent() {
  const isCi = process.env.CI === "true";
  if (!isCi && !hasSdkTools()) {
    console.log(
      'check: the other SDKs are passed over until "npm run generate:sdks" installs their generators',
    );
    return true;
  }
  const fresh = mkdtempSync(join(tmpdir(), "visage-sdks-"));
  try {
    installSdkTools();
    generateSdks(fresh);
    const stale = GENERATED.flatMap((folder) =>
      differing(join(fresh, folder), join("sdks", folder)).map((path) => join("sdks", folder, path)),
    );
    for (const path of stale) console.log(`${path} is not what "npm run generate:sdks" makes`);
    return stale.length === 0;
  } catch (fault) {
    console.log(fault.message);
    return false;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function openApiIsCurrent() {
  const fresh = mkdtempSync(join(tmpdir(), "visage-openapi-"));
  try {
    const file = join(fresh, "openapi.json");
    if (!runNode("tools/build.mjs") || !runNode("dist/tools/openapi/write.js", file)) return false;
    const isCurrent = contentOf(file) === contentOf("gen/openapi.json");
    if (!isCurrent) console.log('gen/openapi.json is not what "npm run generate" makes');
    return isCurrent;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function openApiIsSound() {
  // Probes have no request that could be wrong.
  const exception = ["--skip-rule", "operation-4xx-response"];
  return run("redocly", "lint", "gen/openapi.json", "--extends", "recommended-strict", ...exception);
}

function differing(one, other) {
  const files = new Set([...filesIn(one), ...filesIn(other)]);
  return [...files].filter((path) => contentOf(join(one, path)) !== contentOf(join(other, path)));
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith("__pycache__"))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

function contentOf(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
