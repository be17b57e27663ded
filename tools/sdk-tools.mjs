// The code generators of the SDKs: pinned versions, installed in a cache folder.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const CACHE = resolve("node_modules/.cache/sdk-tools");

const FACE_PROTO = "face/v1/face.proto";
const TYPED_PROTOS = ["account", "admin", "face_analysis", "gallery"].map(
  (name) => `visage/v1/${name}.proto`,
);
const OPTIONS_PROTO = "rest/v1/options.proto";
const PROTOS = [FACE_PROTO, ...TYPED_PROTOS, OPTIONS_PROTO];

const PYTHON_PINS = "sdks/python/requirements-dev.txt";
/** A module of its own, so that users of the SDK do not depend on its generators. */
const GO_TOOLS = "tools/go-generators";

/**
 * By language: the folders of the generated code, the text that pins its generators, how to install them, and how to
 * generate into a folder.
 */
const SDKS = {
  python: {
    folders: ["src/visage/face", "src/visage/rest", "src/visage/v1"],
    pins: () => readFileSync(PYTHON_PINS, "utf8"),
    install: (tools) => {
      run("python3", "-m", "venv", tools);
      run(python(), "-m", "pip", "install", "--quiet", "-r", PYTHON_PINS);
    },
    generate: generatePython,
  },
  go: {
    folders: ["face", "rest", "visage"],
    pins: () => readFileSync(join(GO_TOOLS, "go.mod"), "utf8"),
    install: (tools) => run("env", `GOBIN=${tools}`, "go", "install", "-C", GO_TOOLS, "tool"),
    generate: (out) =>
      protoc(
        PROTOS,
        ...["go", "go-grpc", "connect-go"].flatMap((name) => [
          `--plugin=${join(CACHE, "go", `protoc-gen-${name}`)}`,
          `--${name}_out=${out}`,
          `--${name}_opt=module=${goModule()}`,
        ]),
      ),
  },
};

/** The languages of the generated SDKs. */
export const LANGUAGES = Object.keys(SDKS);

/** The folders below `sdks` that contain only generated files. */
export const GENERATED = LANGUAGES.flatMap((language) =>
  SDKS[language].folders.map((folder) => join(language, folder)),
);

/** Whether the pinned generators of every language are installed. */
export function hasSdkTools() {
  return LANGUAGES.every(isInstalled);
}

/** Installs the missing or outdated generators of the given languages. */
export function installSdkTools(languages = LANGUAGES) {
  for (const language of languages.filter((name) => !isInstalled(name))) {
    const tools = join(CACHE, language);
    rmSync(tools, { recursive: true, force: true });
    mkdirSync(tools, { recursive: true });
    SDKS[language].install(tools);
    writeFileSync(stampPath(language), sha256(SDKS[language].pins()));
  }
}

/** Generates the SDKs into a folder with the layout of `sdks`. Replaces previously generated code. */
export function generateSdks(folder) {
  for (const generated of GENERATED) {
    rmSync(join(folder, generated), { recursive: true, force: true });
    mkdirSync(join(folder, generated), { recursive: true });
  }
  for (const language of LANGUAGES) SDKS[language].generate(join(folder, language));
}

/** Generates modules below the package `visage`, and stubs with their types. */
function generatePython(out) {
  // `visage/v1` is below the package by its own path; the others are put there.
  compilePython(join(out, "src"), TYPED_PROTOS, TYPED_PROTOS);
  compilePython(join(out, "src/visage"), [FACE_PROTO, OPTIONS_PROTO], [FACE_PROTO]);
  // protoc can only import by the path of a proto, such as `face.v1`.
  const movedImport = /^(from|import) (?=(?:face|rest)\.)/gm;
  for (const folder of SDKS.python.folders.map((name) => join(out, name)))
    for (const path of ["", ...readdirSync(folder, { recursive: true })].map((name) => join(folder, name)))
      if (statSync(path).isDirectory()) writeFileSync(join(path, "__init__.py"), "");
      else writeFileSync(path, readFileSync(path, "utf8").replaceAll(movedImport, "$1 visage."));
}

function compilePython(sources, protos, services) {
  const plugin = (name) => `--plugin=protoc-gen-${name}=${join(CACHE, `python/bin/protoc-gen-${name}`)}`;
  protoc(protos, plugin("mypy"), `--python_out=${sources}`, `--mypy_out=quiet:${sources}`);
  protoc(services, plugin("mypy_grpc"), `--grpc_python_out=${sources}`, `--mypy_grpc_out=quiet:${sources}`);
}

/** Runs the compiler of grpcio-tools, which brings the google/protobuf files along. */
function protoc(protos, ...args) {
  run(python(), "-m", "grpc_tools.protoc", "--proto_path=proto", ...args, ...protos);
}

/** The module path of the Go SDK. Only go.mod and the `go_package` options of our protos state it. */
function goModule() {
  return /^module (\S+)$/m.exec(readFileSync("sdks/go/go.mod", "utf8"))[1];
}

function python() {
  return join(CACHE, "python/bin/python");
}

function isInstalled(language) {
  try {
    return readFileSync(stampPath(language), "utf8") === sha256(SDKS[language].pins());
  } catch {
    return false;
  }
}

function stampPath(language) {
  return join(CACHE, language, "installed");
}

function sha256(content) {
  return createHash("sha256").update(content).digest("hex");
}

function run(program, ...args) {
  execFileSync(program, args, { stdio: "inherit" });
}
