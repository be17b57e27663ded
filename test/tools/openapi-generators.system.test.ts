// Generates clients from the OpenAPI document with the common code generators, compiles them, and calls every operation
// with files and with Base64, except for the stream, which generated clients cannot use. Each program in
// openapi-clients prints the same summary of what it received. Some clients are only compiled, and the one for C# is
// only generated.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { PROGRAM_ENV } from "../support/sdk.ts";
import { startTestService, USER } from "../support/service.ts";
import { installTool, TOOL_CACHE } from "../support/tool-cache.ts";
import { findTools } from "../support/tools.ts";

/** The first run on a machine downloads the generators and compiles the dependencies of the clients. */
const TIMEOUT_MS = 15 * 60_000;
const GENERATOR = {
  artifact: "org.openapitools:openapi-generator-cli:7.25.0",
  file: "openapi-generator-cli-7.25.0.jar",
  sha256: "41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae",
};
const OAPI_CODEGEN = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2";
/** The folder of each client of openapi-generator, with its generator. */
const CLIENTS = {
  java: { generatorName: "java" },
  "java-native": { generatorName: "java", library: "native" },
  kotlin: { generatorName: "kotlin" },
  csharp: { generatorName: "csharp" },
  go: { generatorName: "go" },
  python: { generatorName: "python" },
  "rust/client": { generatorName: "rust" },
  "typescript/fetch-client": { generatorName: "typescript-fetch" },
  "typescript/axios-client": { generatorName: "typescript-axios" },
};
const PROGRAMS = join(import.meta.dirname, "openapi-clients");
const DOCUMENT = join(PACKAGE_ROOT, "gen/openapi.json");
const PHOTOS = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo");
const PHOTO = { first: join(PHOTOS, "sample1.jpg"), second: join(PHOTOS, "sample3.jpg") };
// Two of the three faces of the first photograph.
const BOXES = ["1470,227,1676,433", "419,391,599,595"];
const java = findTools("javac", "mvn");
const go = findTools("go");
const rust = findTools("cargo");

describe.runIf(java.wanted)("a client from the OpenAPI document", { timeout: TIMEOUT_MS }, () => {
  let service: RunningService;
  let folder: string;
  let expected: object;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "visage-clients-"));
    await cp(PROGRAMS, folder, { recursive: true });
    [service] = await Promise.all([startTestService(), generateClients()]);
    expected = await callDirectly(`http://127.0.0.1:${service.port}`);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await service?.close();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  test("by openapi-generator for Java calls every operation", async () => {
    const exec = "org.codehaus.mojo:exec-maven-plugin:3.6.3:java";
    await expectCalls("java", java.paths.mvn, "-q", "-B", "compile", exec, "-Dexec.mainClass=Calls");
  });

  test.each(["java-native", "kotlin"])("by openapi-generator for %s compiles", async (client) => {
    await run(client, java.paths.mvn, "-q", "-B", "compile");
  });

  test.runIf(go.wanted)("by oapi-codegen compiles", async () => {
    const tools = await installTool("oapi-codegen", OAPI_CODEGEN, async (target) => {
      await run(".", "env", `GOBIN=${target}`, go.paths.go, "install", OAPI_CODEGEN);
    });
    await run("oapi", join(tools, "oapi-codegen"), "-package", "oapi", "-o", "client.go", DOCUMENT);
    await run("oapi", go.paths.go, "mod", "tidy");
    await run("oapi", go.paths.go, "build", "./...");
  });

  test.runIf(go.wanted)("by openapi-generator for Go calls every operation", async () => {
    await run("go", go.paths.go, "mod", "tidy");
    await expectCalls("go", go.paths.go, "run", "./calls");
  });

  test.runIf(rust.wanted)("by openapi-generator for Rust calls every operation", async () => {
    await expectCalls("rust", rust.paths.cargo, "run", "--quiet", "--target-dir", join(TOOL_CACHE, "cargo"));
  });

  describe.runIf(findTools("python3").wanted)("in Python", () => {
    let python: string;
    beforeAll(async () => {
      const requirements = join(PROGRAMS, "python/requirements.txt");
      const pins = await readFile(requirements, "utf8");
      const venv = await installTool("python", pins, async (target) => {
        await run(".", "python3", "-m", "venv", target);
        await run(".", join(target, "bin/pip"), "install", "--quiet", "-r", requirements);
      });
      python = join(venv, "bin/python");
      // Without the override it does not generate the stream, and warns.
      const config = {
        post_hooks: [],
        content_type_overrides: { "application/x-ndjson": "application/octet-stream" },
      };
      await writeFile(join(folder, "python/config.yaml"), JSON.stringify(config));
      await run(
        "python",
        join(venv, "bin/openapi-python-client"),
        ...["generate", "--path", DOCUMENT, "--output-path", "visage_client", "--meta", "none"],
        ...["--config", "config.yaml", "--fail-on-warning"],
      );
    }, TIMEOUT_MS);

    test("by openapi-generator calls every operation", () =>
      expectCalls("python", python, "openapi_generator.py"));

    test("by openapi-python-client calls every operation", () =>
      expectCalls("python", python, "openapi_python_client.py"));
  });

  describe("in TypeScript", () => {
    beforeAll(async () => {
      const manifest = join(PROGRAMS, "typescript/package.json");
      const pins = await readFile(manifest, "utf8");
      const packages = await installTool("typescript", pins, async (target) => {
        await cp(manifest, join(target, "package.json"));
        await run(".", "npm", "install", "--prefix", target, "--ignore-scripts", "--no-audit", "--no-fund");
      });
      await symlink(join(packages, "node_modules"), join(folder, "typescript/node_modules"));
      await run("typescript", "node_modules/.bin/openapi-ts");
      await run(
        "typescript",
        "node_modules/.bin/openapi-typescript",
        DOCUMENT,
        "-o",
        "openapi-typescript.ts",
      );
      // Checks the types of the clients and of their use.
      await run(
        "typescript",
        "node_modules/.bin/tsc",
        ...["--strict", "--skipLibCheck", "--target", "es2023", "--lib", "es2023,dom,dom.iterable"],
        ...["--module", "commonjs", "--moduleResolution", "node", "--types", "node"],
        ...["--typeRoots", join(PACKAGE_ROOT, "node_modules/@types"), "--outDir", "out"],
        ...["fetch.ts", "axios.ts", "hey-api.ts", "openapi-typescript.ts"],
      );
    }, TIMEOUT_MS);

    test("by openapi-generator for fetch calls every operation", () =>
      expectCalls("typescript", process.execPath, "out/fetch.js"));

    test("by openapi-generator for axios calls every operation", () =>
      expectCalls("typescript", process.execPath, "out/axios.js"));

    test("by hey-api calls every operation", () =>
      expectCalls("typescript", process.execPath, "out/hey-api.js"));
  });

  /** Runs openapi-generator for all languages in one JVM. */
  async function generateClients(): Promise<void> {
    const jar = await installTool("openapi-generator", GENERATOR.sha256, async (target) => {
      const output = [`-Dartifact=${GENERATOR.artifact}`, `-DoutputDirectory=${target}`];
      await run(".", "mvn", "-q", "-B", "dependency:copy", ...output);
      const digest = createHash("sha256").update(await readFile(join(target, GENERATOR.file)));
      expect(digest.digest("hex")).toBe(GENERATOR.sha256);
    });
    const configs = Object.entries(CLIENTS).map(async ([target, generator]) => {
      const config = {
        ...generator,
        inputSpec: DOCUMENT,
        outputDir: join(folder, target),
        additionalProperties: { disallowAdditionalPropertiesIfNotPresent: false },
        globalProperties: {
          splitOperationsByContentType: "true",
          ...Object.fromEntries(
            ["api", "model"].flatMap((of) => [
              [`${of}Tests`, "false"],
              [`${of}Docs`, "false"],
            ]),
          ),
        },
      };
      const file = join(folder, `${target.replace("/", "-")}.json`);
      await writeFile(file, JSON.stringify(config));
      return file;
    });
    const files = await Promise.all(configs);
    await run(".", "java", "-jar", join(jar, GENERATOR.file), "batch", "--fail-fast", ...files);
  }

  /** Runs a program in a folder of the clients and compares its output with direct calls. */
  async function expectCalls(subfolder: string, program: string, ...args: string[]): Promise<void> {
    const output = await run(subfolder, program, ...args);
    // Maven prints control sequences around the output of the program.
    expect(JSON.parse(/\{.*\}/.exec(output)![0])).toEqual(expected);
  }

  /** Runs a program and returns its output. Throws an error with the output if the program fails. */
  async function run(subfolder: string, program: string, ...args: string[]): Promise<string> {
    const env = {
      ...PROGRAM_ENV,
      VISAGE_URL: `http://127.0.0.1:${service?.port}`,
      VISAGE_USER_ID: USER,
      VISAGE_PHOTO_1: PHOTO.first,
      VISAGE_PHOTO_2: PHOTO.second,
      VISAGE_BOXES: BOXES.join(" "),
      VISAGE_DOCUMENT: DOCUMENT,
    };
    const options = { cwd: join(folder, subfolder), env, maxBuffer: 64 * 1024 * 1024 };
    try {
      return (await promisify(execFile)(program, args, options)).stdout;
    } catch (fault) {
      const { stdout, stderr } = fault as { stdout: string; stderr: string };
      throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: fault });
    }
  }
});

/** Makes the calls of the programs without a generated client, and returns the same summary. */
async function callDirectly(service: string): Promise<object> {
  const [text1, text2] = await Promise.all(
    Object.values(PHOTO).map(async (path) => (await readFile(path)).toString("base64")),
  );
  const call = async (target: string, body: object) => {
    const headers = { user_id: USER, "content-type": "application/json" };
    const response = await fetch(service + target, { method: "POST", headers, body: JSON.stringify(body) });
    return (await response.json()) as { readonly data: Answer };
  };
  const summarize = async (selectOne: string, selectSeveral: string) => {
    const pair = { img_1: text1, img_2: text2 };
    const { data: match } = await call(`/match_faces?bboxes_1=${selectOne}`, pair);
    const { data: compare } = await call(`/compare_faces?bboxes_1=${selectOne}`, pair);
    const { data: attr } = await call(`/get_image_attr?bboxes=${selectSeveral}`, { image_attr: text1 });
    const { data: vec } = await call(`/get_face_vec?detail=1&bboxes=${selectOne}`, { img: text1 });
    const { image_size: imageSize, ...faces } = attr.attributes;
    return {
      match: [match.score, match.status],
      compare: compare.confidence,
      faces: Object.fromEntries(
        Object.entries(faces).map(([name, { age, face_rectangle, landmarks }]) => [
          name,
          [age, face_rectangle, landmarks.faceLandMark.noseTip.x],
        ]),
      ),
      imageSize,
      vector: vec.vector.length,
      facesFound: vec.detail.images[0]!.faces_found,
    };
  };
  const [files, text] = [await summarize("", ""), await summarize(BOXES[0]!, BOXES.join("%26"))];
  expect([Object.keys(files.faces).length, Object.keys(text.faces).length]).toEqual([3, 2]);
  const typed = await callTypedDirectly(call as never, text1!, text2!);
  return { files, text, error: [400, "2002", "BAD_BOX"], typed };
}

/** Makes the calls of the typed API. */
async function callTypedDirectly(
  call: (target: string, body: object) => Promise<TypedAnswer>,
  text1: string,
  text2: string,
): Promise<object> {
  const [image, other] = [{ content: text1 }, { content: text2 }];
  const features = ["FEATURE_ATTRIBUTES", "FEATURE_QUALITY"];
  const measured = await call("/v1/images:analyze", { image, features, maxFaces: 2 });
  const { faces } = await call("/v1/images:analyze", {
    image,
    features: ["FEATURE_EMBEDDING"],
    maxFaces: 1,
  });
  const source = { embedding: faces[0]!.embedding };
  const stored = await call("/v1/faces:compare", { source, target: { image }, maxFalseMatchRate: 0.001 });
  const pair = await call("/v1/faces:compare", { source: { image }, target: { image: other } });
  const matched = stored.matches.map((match) => match.matched);
  expect(matched).toEqual([true, false, false]);
  return {
    faces: measured.faces.map(({ age, gender, quality }) => [age.range, gender.value, quality.usable]),
    facesFound: measured.facesFound,
    matched,
    pairs: pair.matches.length,
    error: [400, "BAD_BOX"],
  };
}

/** All responses of the typed API. */
interface TypedAnswer {
  readonly faces: readonly {
    readonly age: { readonly range: string };
    readonly gender: { readonly value: string };
    readonly quality: { readonly usable: boolean };
    readonly embedding: object;
  }[];
  readonly facesFound: number;
  readonly matches: readonly { readonly matched: boolean }[];
}

/** The data of all responses. */
interface Answer {
  readonly score: string;
  readonly status: string;
  readonly confidence: string;
  readonly attributes: {
    readonly image_size: readonly number[];
    readonly [face: `face_id_${number}`]: {
      readonly age: string;
      readonly face_rectangle: readonly number[];
      readonly landmarks: { readonly faceLandMark: { readonly noseTip: { readonly x: number } } };
    };
  };
  readonly vector: readonly number[];
  readonly detail: { readonly images: readonly { readonly faces_found: number }[] };
}
