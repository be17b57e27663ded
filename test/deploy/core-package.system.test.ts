// The package @visage/core in an empty folder, with nothing but its dependencies.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { readSamplePhoto } from "../../tools/support/sample-photos.ts";
import { codeBlocks, readMarkdown } from "../support/markdown.ts";

const MODULES = join(PACKAGE_ROOT, "node_modules");
const TSC = join(MODULES, "typescript/bin/tsc");

const folder = mkdtempSync(join(tmpdir(), "visage-core-"));
const installed = join(folder, "node_modules/@visage/core");
let dependencies: string[];
beforeAll(() => {
  const pack = join(PACKAGE_ROOT, "tools/pack-core.mjs");
  const tarball = execFileSync(process.execPath, [pack, folder], { encoding: "utf8" }).trim();
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder, tarball), "-C", installed, "--strip-components=1"]);
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  dependencies = Object.keys(manifest.dependencies);
  for (const name of dependencies) symlinkSync(join(MODULES, name), join(folder, "node_modules", name));
  for (const name of ["one.jpg", "other.jpg"]) writeFileSync(join(folder, name), readSamplePhoto(3));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a program, checks its types and runs it. Returns what it prints. */
function runProgram(name: string, source: string): string {
  writeFileSync(join(folder, `${name}.ts`), source);
  const types = ["--types", "node", "--typeRoots", join(MODULES, "@types")];
  const options = ["--target", "es2023", "--module", "nodenext", "--strict", "--skipLibCheck", ...types];
  execFileSync(process.execPath, [TSC, ...options, `${name}.ts`], { cwd: folder, stdio: "inherit" });
  // A proxy that does not exist: nothing may be downloaded.
  const env = { PATH: dirname(process.execPath), HTTPS_PROXY: "http://127.0.0.1:9" };
  return execFileSync(process.execPath, [`${name}.js`], { cwd: folder, encoding: "utf8", env });
}

test("the package needs onnxruntime-node and sharp only", () => {
  expect(dependencies).toEqual(["onnxruntime-node", "sharp"]);
});

test.each(["docs/clients.md", "src/core/README.md"])("the example of %s runs", (page) => {
  const [example] = codeBlocks(readMarkdown(page), "ts").filter((code) => code.includes("openAnalyzer()"));
  expect(runProgram("example", example!)).toMatch(/\b20-40\b[\s\S]*^match$/m);
});

test("a pool needs no argument and has the results of an analyzer", () => {
  const printed = runProgram(
    "pool",
    `import { readFileSync } from "node:fs";
import { openAnalyzer } from "@visage/core";
import { openPool } from "@visage/core/pool";

const photo = readFileSync("one.jpg");
const [analyzer, pool] = await Promise.all([openAnalyzer(), openPool()]);
const [one, other] = await Promise.all([analyzer.analyze(photo), pool.analyze(photo)]);
console.log(pool.size, JSON.stringify(one) === JSON.stringify(other));
await Promise.all([analyzer.close(), pool.close()]);
`,
  );
  expect(printed).toMatch(/^\d+ true\n$/);
});
