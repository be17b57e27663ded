// `npm run check`: the static checks. All of them run, even after a failure, so that one run shows every problem.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GENERATED, generateSdks, hasSdkTools, installSdkTools } from "./sdk-tools.mjs";

const VITEST = ["vitest", "run", "--config", "test/vitest.config.ts"];

/** They stay as published. */
const THIRD_PARTY_PROTOS = ["proto/google", "proto/grpc"];

/** The checks by name. Each returns whether it passed, and prints what is wrong if it did not. */
const CHECKS = {
  types: () => run("tsc", "--noEmit", "--project", "test/tsconfig.json"),
  "types of the pages": () => run("tsc", "--noEmit", "--project", "src/web/tsconfig.json"),
  "lint, format and promises": () => run("biome", "check", "--error-on-warnings", "."),
  "layers and file names": () => run(...VITEST, "test/layers.test.ts", "test/file-names.test.ts"),
  "proto lint": () => run("buf", "lint"),
  "proto format": () =>
    run(
      "buf",
      "format",
      "--diff",
      "--exit-code",
      ...THIRD_PARTY_PROTOS.flatMap((path) => ["--exclude-path", path]),
    ),
  "proto compatibility": checkProtoCompatibility,
  "generated code": checkGeneratedCode,
  "generated SDKs": checkGeneratedSdks,
  "OpenAPI document": checkOpenApiDocument,
  "OpenAPI lint": lintOpenApiDocument,
};

for (const [name, check] of Object.entries(CHECKS)) {
  const passed = check();
  console.log(`check: ${name} ${passed ? "ok" : "FAILED"}`);
  if (!passed) process.exitCode = 1;
}

/** Compares the protos with those of the last release. */
function checkProtoCompatibility() {
  const git = (...args) => spawnSync("git", args, { encoding: "utf8" });
  const release = git("describe", "--tags", "--abbrev=0", "--match", "v*").stdout.trim();
  if (!release) {
    console.log("check: no release to compare the protos with");
    return true;
  }
  return withFolder((folder) => {
    const tree = join(folder, "tree");
    try {
      git("worktree", "add", "--detach", tree, release);
      return run("buf", "breaking", "--against", tree);
    } finally {
      git("worktree", "remove", "--force", tree);
    }
  });
}

function checkGeneratedCode() {
  return withFolder((folder) => {
    if (!runNode("tools/generate.mjs", folder)) return false;
    const [generated, committed] = [join(folder, "gen/descriptors.binpb"), "gen/descriptors.binpb"];
    const isCurrent = readFileSync(generated).equals(readFileSync(committed));
    const stale = findDifferences(join(folder, "gen/ts"), "gen/ts");
    return reportStale(isCurrent ? stale : [...stale, committed], "npm run generate");
  });
}

/** Generates the SDKs and compares them. Outside CI this is skipped if the generators are not installed. */
function checkGeneratedSdks() {
  if (process.env.CI !== "true" && !hasSdkTools()) {
    console.log('check: SDKs skipped, because "npm run generate:sdks" has not installed their generators');
    return true;
  }
  return withFolder((folder) => {
    try {
      installSdkTools();
      generateSdks(folder);
    } catch (error) {
      console.log(error.message);
      return false;
    }
    const stale = GENERATED.flatMap((path) => findDifferences(join(folder, path), join("sdks", path)));
    return reportStale(stale, "npm run generate:sdks");
  });
}

function checkOpenApiDocument() {
  return withFolder((folder) => {
    const file = join(folder, "openapi.json");
    if (!runNode("tools/build.mjs") || !runNode("dist/tools/openapi/write.js", file)) return false;
    const isCurrent = read(file) === read("gen/openapi.json");
    return reportStale(isCurrent ? [] : ["gen/openapi.json"], "npm run generate");
  });
}

function lintOpenApiDocument() {
  // The health probes take no input, so they have no 4xx response. Extensions use schemas of lines and of map values.
  const exceptions = ["operation-4xx-response", "no-unused-components"].flatMap((rule) => [
    "--skip-rule",
    rule,
  ]);
  return run("redocly", "lint", "gen/openapi.json", "--extends", "recommended-strict", ...exceptions);
}

/** Runs a program of node_modules and returns whether it succeeded. Prints its output if it did not. */
function run(program, ...args) {
  return runProgram(join("node_modules/.bin", program), args);
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
      REDOCLY_TELEMETRY: "off",
      REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
    },
  });
  if (status !== 0) console.log(`${stdout}${stderr}`);
  return status === 0;
}

/** Calls a function with a temporary folder and returns its result. */
function withFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), "visage-check-"));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Prints the files that a command would generate differently. Returns true if there are none. */
function reportStale(paths, command) {
  for (const path of paths) console.log(`${path} is out of date: run "${command}"`);
  return paths.length === 0;
}

/** Returns the files below `committed` that differ from those below `generated`, or exist on one side only. */
function findDifferences(generated, committed) {
  const files = new Set([...listFiles(generated), ...listFiles(committed)]);
  return [...files]
    .filter((path) => read(join(generated, path)) !== read(join(committed, path)))
    .map((path) => join(committed, path));
}

function listFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith("__pycache__"))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

/** Returns the text of a file, or undefined if there is none. */
function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
