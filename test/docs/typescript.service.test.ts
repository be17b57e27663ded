import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { codeBlocks, markdownFiles, readMarkdown } from "../support/markdown.ts";

/** Variables that the examples take from their surroundings. */
const SURROUNDINGS = `declare global {
  const apiKey: string;
  const file: File;
  const bytes: Uint8Array, photo: Uint8Array;
  const vector: Float32Array, aliceVector: Float32Array, bobVector: Float32Array;
}
export {};
`;
const OPTIONS = [
  "--ignoreConfig",
  "--noEmit",
  "--strict",
  "--skipLibCheck",
  "--target",
  "es2023",
  "--module",
  "nodenext",
  "--types",
  "node",
];
/** What `npm run pack:core` writes, for the compiled sources of this checkout. */
const CORE_PACKAGE = {
  name: "@visage/core",
  type: "module",
  exports: { ".": "./src/core/index.js", "./pool": "./src/workers/pool.js" },
};

test("the TypeScript examples compile against the built packages", () => {
  // Inside the package, so that imports by its own name resolve.
  const folder = mkdtempSync(join(PACKAGE_ROOT, "dist/examples-"));
  try {
    execFileSync(process.execPath, [join(PACKAGE_ROOT, "tools/build-client.mjs")]);
    mkdirSync(join(folder, "node_modules/@visage"), { recursive: true });
    symlinkSync(join(PACKAGE_ROOT, "sdks/typescript"), join(folder, "node_modules/@visage/client"));
    const core = join(folder, "node_modules/@visage/core");
    mkdirSync(core);
    writeFileSync(join(core, "package.json"), JSON.stringify(CORE_PACKAGE));
    symlinkSync(join(PACKAGE_ROOT, "dist/src"), join(core, "src"));
    const examples = markdownFiles().flatMap((path) =>
      codeBlocks(readMarkdown(path), "ts").map((code, i) => [`${path.replaceAll(/\W/g, "-")}-${i}`, code]),
    );
    expect(examples.length).toBeGreaterThan(2);
    const files = [["surroundings", SURROUNDINGS], ...examples].map(([name, code]) => {
      const file = join(folder, `${name}.ts`);
      writeFileSync(file, code!);
      return file;
    });
    const tsc = join(PACKAGE_ROOT, "node_modules/.bin/tsc");
    const { stdout } = spawnSync(tsc, [...OPTIONS, ...files], { cwd: PACKAGE_ROOT, encoding: "utf8" });
    expect(stdout).toBe("");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
