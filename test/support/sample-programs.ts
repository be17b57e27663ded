import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { javaClassName } from "../../src/web/samples/java.ts";
import type { SampleRequest } from "../../src/web/samples/sample-request.ts";
import { compileJavaSdk } from "./java.ts";
import { installGenerators, runProgram, SDK_PYTHON } from "./sdk.ts";
import { findTools, TOOLS_DIR } from "./tools.ts";

/** A sample and the request it was written from. */
export interface WrittenSample {
  readonly name: string;
  readonly request: SampleRequest;
  readonly code: string;
}

/** Runs a program in the folder of the photos. */
type Run = (program: string, args: readonly string[]) => Promise<string>;

/** Makes samples of a language runnable. */
export interface SampleRunner {
  readonly language: string;
  /** Whether the tools of the language are there. */
  readonly wanted: boolean;
  /** Compiles all samples in an empty folder and returns a function that runs one. */
  prepare(
    folder: string,
    samples: readonly WrittenSample[],
    run: Run,
  ): Promise<(sample: WrittenSample) => Promise<string>>;
}

const SDKS = join(PACKAGE_ROOT, "sdks");

const shell = findTools("bash", "curl", "base64");
const grpcurl = findTools("bash", "base64", "grpcurl");
const python = findTools("python3");
const go = findTools("go");
const java = findTools("java", "javac", "mvn");

/** Everything that runs samples, by language. */
export const SAMPLE_RUNNERS: readonly SampleRunner[] = [
  { language: "curl", wanted: shell.wanted, prepare: async (_, __, run) => shellProgram(run) },
  { language: "grpcurl", wanted: grpcurl.wanted, prepare: async (_, __, run) => shellProgram(run) },
  { language: "python", wanted: python.wanted, prepare: preparePython },
  { language: "typescript", wanted: true, prepare: prepareTypescript },
  { language: "go", wanted: go.wanted, prepare: prepareGo },
  { language: "java", wanted: java.wanted, prepare: prepareJava },
];

/** Fails on HTTP errors, which curl otherwise prints like responses. */
function shellProgram(run: Run): (sample: WrittenSample) => Promise<string> {
  const tools = `export PATH=${join(TOOLS_DIR, "bin")}:"$PATH"`;
  const strict = 'curl() { command curl --fail-with-body --silent --show-error --max-time 60 "$@"; }';
  return ({ code }) => run("bash", ["-c", `set -euo pipefail\n${tools}\n${strict}\n${code}`]);
}

async function preparePython(folder: string, samples: readonly WrittenSample[], run: Run) {
  await installGenerators("python");
  for (const { name, code } of samples) writeFileSync(join(folder, `${name}.py`), code);
  return ({ name }: WrittenSample) => run(SDK_PYTHON, [join(folder, `${name}.py`)]);
}

async function prepareTypescript(folder: string, samples: readonly WrittenSample[], run: Run) {
  const modules = join(folder, "node_modules");
  const client = join(modules, "@visage/client");
  mkdirSync(client, { recursive: true });
  cpSync(join(SDKS, "typescript/package.json"), join(client, "package.json"));
  for (const scope of ["@bufbuild", "@connectrpc"])
    symlinkSync(join(PACKAGE_ROOT, "node_modules", scope), join(modules, scope));
  const compile = (...args: string[]) =>
    runProgram(folder, join(PACKAGE_ROOT, "node_modules/.bin/tsc"), args);
  await compile("--project", join(SDKS, "typescript"), "--outDir", join(client, "dist"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  for (const { name, code } of samples) writeFileSync(join(folder, `${name}.ts`), code);
  const types = ["--typeRoots", join(PACKAGE_ROOT, "node_modules/@types"), "--types", "node"];
  const options = ["--ignoreConfig", "--strict", "--target", "es2022", "--module", "nodenext", ...types];
  await compile(...options, ...samples.map(({ name }) => `${name}.ts`));
  return ({ name }: WrittenSample) => run(process.execPath, [join(folder, `${name}.js`)]);
}

async function prepareGo(folder: string, samples: readonly WrittenSample[], run: Run) {
  cpSync(join(SDKS, "go"), folder, { recursive: true });
  for (const { name, code } of samples) {
    mkdirSync(join(folder, "samples", name), { recursive: true });
    writeFileSync(join(folder, "samples", name, "main.go"), code);
  }
  await runProgram(folder, go.paths.go, ["vet", "./samples/..."]);
  // Nobody debugs the many programs, and debug information takes time to link.
  await runProgram(folder, go.paths.go, ["build", "-ldflags=-s -w", "-o", "bin/", "./samples/..."]);
  return ({ name }: WrittenSample) => run(join(folder, "bin", name), []);
}

async function prepareJava(folder: string, samples: readonly WrittenSample[], run: Run) {
  const classpath = [await compileJavaSdk(java.paths.mvn), folder].join(":");
  const files = samples.map(({ name, request, code }) => {
    // Samples of the same operation have the same class.
    writeFileSync(join(folder, `${name}.java`), code.replaceAll(javaClassName(request), name));
    return `${name}.java`;
  });
  await runProgram(folder, java.paths.javac, ["-Xlint:all", "-Werror", "-cp", classpath, ...files]);
  return ({ name }: WrittenSample) => run(java.paths.java, ["-cp", classpath, name]);
}
