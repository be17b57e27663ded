import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { withLock } from "../../tools/process-lock.mjs";
import { runProgram } from "./sdk.ts";
import { installTool } from "./tool-cache.ts";
import { TOOLS_DIR } from "./tools.ts";

const SDK = "sdks/java";
/** What the library is compiled from, without its tests and example. */
const SOURCES = [`${SDK}/pom.xml`, `${SDK}/src/main`, "proto"];
const DEPENDENCY_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.9.0";

/** Not ~/.m2: the tests must not replace a client that other projects of this machine use. */
const REPOSITORY = join(TOOLS_DIR, "maven");

/** Runs Maven in a folder and returns its output. Runs one at a time, because Maven does not lock its repository. */
export function runMaven(
  program: string,
  folder: string,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<string> {
  const options = ["-q", "-B", `-Dmaven.repo.local=${REPOSITORY}`];
  return withLock(`${REPOSITORY}.lock`, () => runProgram(folder, program, [...options, ...args], env));
}

/** Compiles the SDK, unless a test has compiled the same sources before. Returns the class path of its programs. */
export async function compileJavaSdk(maven: string): Promise<string> {
  const files = SOURCES.flatMap(listFiles);
  const pins = files.map((path) => `${path}\n${readFileSync(join(PACKAGE_ROOT, path), "utf8")}`).join("\n");
  const folder = await installTool("java-sdk", pins, async (target) => {
    for (const path of SOURCES) cpSync(join(PACKAGE_ROOT, path), join(target, path), { recursive: true });
    const output = `-Dmdep.outputFile=${join(target, "classpath")}`;
    await runMaven(maven, join(target, SDK), ["compile", `${DEPENDENCY_PLUGIN}:build-classpath`, output]);
  });
  return [readFileSync(join(folder, "classpath"), "utf8").trim(), join(folder, SDK, "target/classes")].join(
    ":",
  );
}

/** Lists the files below a path of the project, or the path itself if it is a file. */
function listFiles(path: string): string[] {
  if (path.includes(".")) return [path];
  return readdirSync(join(PACKAGE_ROOT, path))
    .toSorted()
    .flatMap((name) => listFiles(join(path, name)));
}
