// The code generators of the SDKs: pinned versions, installed in a cache folder.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
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

/** The generators for Java by platform. sdks/java/pom.xml has the same versions. */
const JAVA_TOOLS = [
  {
    group: "com.google.protobuf",
    name: "protoc",
    version: "4.35.1",
    sha256: {
      "linux-x86_64": "d2c65c3ea5eeb59427f684ed3e0a0cd458386122fc9f1b98de946a7242b53d31",
      "linux-aarch_64": "608546367dd64505f3a676f30fffb546941c833aaab0ae1002c615827807d54d",
      "osx-x86_64": "8ddc81374bb0fd6aa7aa86773cd35e2321b69844dad6574c6fac808538393716",
      "osx-aarch_64": "d81c6d9240f7eb8d18d41c6abc9cd6ca7896e370c7b575adfcf2fa1d600727de",
    },
  },
  {
    group: "io.grpc",
    name: "protoc-gen-grpc-java",
    version: "1.83.1",
    sha256: {
      "linux-x86_64": "db4044e78391d5a23439143c8147f07ba5877675587b4d48f3b68fbee3893589",
      "linux-aarch_64": "5af5544369bd8557111abfbed21453bb6fa867bf32a25f2ffe5f72366e705cef",
      "osx-x86_64": "372e13b25cb058ea6e3ab6cb54ba1458d5d2bbe1cfdcd37bc57e82b872656e21",
      "osx-aarch_64": "372e13b25cb058ea6e3ab6cb54ba1458d5d2bbe1cfdcd37bc57e82b872656e21",
    },
  },
];

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
      pythonProtoc(
        PROTOS,
        ...["go", "go-grpc", "connect-go"].flatMap((name) => [
          `--plugin=${join(CACHE, "go", `protoc-gen-${name}`)}`,
          `--${name}_out=${out}`,
          `--${name}_opt=module=${goModule()}`,
        ]),
      ),
  },
  java: {
    folders: ["src/generated/java"],
    pins: () => JSON.stringify(JAVA_TOOLS),
    install: (tools) => {
      for (const tool of JAVA_TOOLS) download(tool, tools);
    },
    generate: (out) =>
      protoc(
        [join(CACHE, "java/protoc")],
        PROTOS,
        `--plugin=${join(CACHE, "java/protoc-gen-grpc-java")}`,
        `--java_out=${join(out, "src/generated/java")}`,
        `--grpc-java_out=@generated=omit:${join(out, "src/generated/java")}`,
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
  pythonProtoc(protos, plugin("mypy"), `--python_out=${sources}`, `--mypy_out=quiet:${sources}`);
  pythonProtoc(
    services,
    plugin("mypy_grpc"),
    `--grpc_python_out=${sources}`,
    `--mypy_grpc_out=quiet:${sources}`,
  );
}

function pythonProtoc(protos, ...args) {
  protoc([python(), "-m", "grpc_tools.protoc"], protos, ...args);
}

function protoc(compiler, protos, ...args) {
  // The compiler from Maven lacks the google/protobuf files that others bring along.
  const purelib = execFileSync(python(), ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]);
  const from = ["proto", join(String(purelib).trim(), "grpc_tools/_proto")];
  const options = from.map((path) => `--proto_path=${path}`);
  run(...compiler, ...options, ...args, ...protos);
}

/** The module path of the Go SDK. Only go.mod and the `go_package` options of our protos state it. */
function goModule() {
  return /^module (\S+)$/m.exec(readFileSync("sdks/go/go.mod", "utf8"))[1];
}

function python() {
  return join(CACHE, "python/bin/python");
}

/** Downloads a program with Maven, from its configured repository. */
function download({ group, name, version, sha256: digests }, tools) {
  // The classifier that Maven uses for this platform.
  const system = process.platform === "darwin" ? "osx" : process.platform;
  const classifier = `${system}-${process.arch === "arm64" ? "aarch_64" : "x86_64"}`;
  const artifact = `-Dartifact=${group}:${name}:${version}:exe:${classifier}`;
  run("mvn", "-q", "-B", "dependency:copy", artifact, `-DoutputDirectory=${tools}`);
  const file = join(tools, `${name}-${version}-${classifier}.exe`);
  if (sha256(readFileSync(file)) !== digests[classifier])
    throw new Error(`${file} does not have the pinned digest.`);
  renameSync(file, join(tools, name));
  chmodSync(join(tools, name), 0o755);
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
