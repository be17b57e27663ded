import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { hasBrowser, openTab, startBrowser } from "../support/browser.ts";
import { listen } from "../support/image-server.ts";
import { photograph } from "../support/images.ts";
import { codeBlocks, readMarkdown } from "../support/markdown.ts";
import { startTestService, USER } from "../support/service.ts";
import { installTool } from "../support/tool-cache.ts";

const PACKAGE = join(PACKAGE_ROOT, "sdks/typescript");
const PHOTO = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo/sample3.jpg");
const EXAMPLES = ["example.ts", "example-stream.ts"];
const DEPENDENCIES = [
  "@bufbuild/protobuf",
  "@connectrpc/connect",
  "@connectrpc/connect-node",
  "@connectrpc/connect-web",
];
const MAX_PACKAGE_BYTES = 3_000_000;
/** The oldest and a newer Node. Other versions of Node get other versions of Connect from npm. */
const NODE_VERSIONS = ["20.19.0", "22.23.3"];
const OLDEST_TYPESCRIPT = "5.4.5";
const COMPILER = join(PACKAGE_ROOT, "node_modules/typescript");
// The registry is needed.
const isCi = process.env.CI === "true";

interface Manifest {
  readonly version: string;
  readonly dependencies: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly exports: Record<string, unknown>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

const { version, dependencies } = manifestOf(PACKAGE);

/** The folder of everything that these tests create. */
const folder = mkdtempSync(join(tmpdir(), "visage-typescript-"));
let service: RunningService;
let tarball: string;
/** A project that has installed the package with the dependencies of this checkout. */
let project: string;
beforeAll(async () => {
  service = await startTestService();
  tarball = pack(PACKAGE);
  // The dependencies are packed from this checkout, because npm may not have them in its cache.
  const packed = DEPENDENCIES.map((name) =>
    pack(join(PACKAGE_ROOT, "node_modules", name), "--ignore-scripts"),
  );
  project = createProject(["--offline", tarball, ...packed]);
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

/** Packs a package and returns the path of its tarball. */
function pack(packageDir: string, ...args: string[]): string {
  const printed = npm({ cwd: folder }, "pack", packageDir, "--json", ...args);
  // The build prints to the same stream.
  const [{ filename }] = JSON.parse(printed.slice(printed.indexOf("[\n"))) as [{ filename: string }];
  return join(folder, filename);
}

/** Creates a project as a user would: an empty folder, and an installation by the npm that runs in a version of Node. */
function createProject(installArgs: readonly string[], node = process.execPath): string {
  const created = mkdtempSync(join(folder, "project-"));
  writeFileSync(join(created, "package.json"), JSON.stringify({ type: "module" }));
  npm({ cwd: created, node }, "install", "--no-audit", "--no-fund", ...installArgs);
  return created;
}

/** Runs npm without the settings of this machine. */
function npm(
  { cwd, node = process.execPath }: { readonly cwd: string; readonly node?: string },
  ...args: string[]
): string {
  const { HOME, PATH, NODE_EXTRA_CA_CERTS } = process.env;
  const path = [dirname(node), PATH].join(delimiter);
  const env = { HOME, PATH: path, NODE_EXTRA_CA_CERTS, npm_config_userconfig: "/dev/null" };
  return execFileSync("npm", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** Installs a version of a package into the cache of tools. Returns the path of the package. */
async function installPackage(name: string, version: string): Promise<string> {
  const pin = `${name}@${version}`;
  const target = await installTool(name, pin, async (target) => {
    npm({ cwd: target }, "install", "--prefix", target, "--no-audit", "--no-fund", pin);
  });
  return join(target, "node_modules", name);
}

/** Compiles files of a project and returns the errors. Libraries are checked, too. */
function compile(projectDir: string, moduleArgs: readonly string[], files: string[], compiler = COMPILER) {
  const options = ["--strict", "--exactOptionalPropertyTypes", "--target", "es2022"];
  const types = ["--typeRoots", join(PACKAGE_ROOT, "node_modules/@types"), "--types", "node"];
  const args = [join(compiler, "bin/tsc"), ...options, ...types, ...moduleArgs, ...files];
  return spawnSync(process.execPath, args, { cwd: projectDir, encoding: "utf8" }).stdout;
}

/** Writes the examples and the code of the READMEs into a project. Returns the names of the files. */
function writeExamples(projectDir: string): string[] {
  for (const name of EXAMPLES) cpSync(join(PACKAGE, name), join(projectDir, name));
  const surroundings =
    "declare const apiKey: string; declare const bytes: Uint8Array; declare const file: File;\n";
  const blocks = ["README.md", "sdks/typescript/README.md"].flatMap((path) =>
    codeBlocks(readMarkdown(path), "ts"),
  );
  const names = blocks.map((code, i) => {
    writeFileSync(join(projectDir, `block-${i}.ts`), `${surroundings}${code}\nexport {};\n`);
    return `block-${i}.ts`;
  });
  expect(names.length).toBeGreaterThan(2);
  return [...EXAMPLES, ...names];
}

/** What the example prints of the same photograph twice: it shows three people. */
const MATCH = {
  stdout: expect.stringMatching(/^match: 0\.0000\n(not a match: 0\.\d{4}\n){2}$/),
  stderr: "",
  status: 0,
};

/** Runs the compiled example. */
function runExample(projectDir: string, { apiKey = USER, node = process.execPath } = {}) {
  return runProgram(projectDir, [node, "example.js"], apiKey, PHOTO, PHOTO);
}

/** Runs a compiled program. The service runs in this process, which must not be blocked. */
async function runProgram(
  projectDir: string,
  [node, program]: readonly [string, string],
  apiKey: string,
  ...photos: string[]
) {
  const args = [program, `http://127.0.0.1:${service.port}`, apiKey, ...photos];
  const child = spawn(node, args, { cwd: projectDir });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { stdout, stderr, status };
}

/** The bytes of all files below a folder. */
function sizeOf(path: string): number {
  const status = statSync(path);
  if (!status.isDirectory()) return status.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

const NODENEXT = ["--module", "nodenext"];
const MODULE_KINDS: readonly (readonly [string, readonly string[]])[] = [
  ["NodeNext", NODENEXT],
  ["a bundler", ["--module", "esnext", "--moduleResolution", "bundler"]],
];

describe("the installed package", () => {
  test("has the version of the service, and its version of Connect", () => {
    const root = manifestOf(PACKAGE_ROOT);
    expect(version).toBe(root.version);
    expect(Object.keys(dependencies)).toEqual(DEPENDENCIES);
    const { "@bufbuild/protobuf": range, ...connect } = dependencies;
    expect(range).toMatch(/^\^2\./);
    expect({ ...root.dependencies, ...root.devDependencies }).toMatchObject(connect);
  });

  test("is small, and brings nothing but its dependencies", () => {
    const installed = join(project, "node_modules/@visage/client");
    expect(sizeOf(installed)).toBeLessThan(MAX_PACKAGE_BYTES);
    expect(readdirSync(installed).sort()).toEqual(["LICENSE", "NOTICE", "README.md", "dist", "package.json"]);
    const packages = readdirSync(join(project, "node_modules"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
      .flatMap(({ name }) =>
        readdirSync(join(project, "node_modules", name)).map((part) => `${name}/${part}`),
      );
    expect(packages.sort()).toEqual([...DEPENDENCIES, "@visage/client"].sort());
  });

  test.each(MODULE_KINDS)("has types for %s, and its example runs", async (_, moduleArgs) => {
    const files = writeExamples(project);
    rmSync(join(project, "example.js"), { force: true });
    expect(compile(project, moduleArgs, files)).toBe("");
    expect(await runExample(project)).toEqual(MATCH);
    expect(await runExample(project, { apiKey: "nobody" })).toMatchObject({
      stderr: expect.stringMatching(/^UNKNOWN_USER The /),
      status: 1,
    });
  });

  test("analyses a folder by stream in its example", async () => {
    expect(compile(project, NODENEXT, writeExamples(project))).toBe("");
    const { stdout, status } = await runProgram(
      project,
      [process.execPath, "example-stream.js"],
      USER,
      dirname(PHOTO),
    );
    expect(status).toBe(0);
    expect(stdout.split("\n")).toEqual(
      expect.arrayContaining(["sample1.jpg: 3 faces", "sample3.jpg: 3 faces"]),
    );
  });

  test("has the generated messages and the search", () => {
    const program = `
      import { FaceService } from "@visage/client/face/v1";
      import { FaceAnalysisService } from "@visage/client/visage/v1";
      import { TemplateIndex } from "@visage/client/search";
      const index = new TemplateIndex();
      index.add("alice", new Float32Array(128));
      console.log(FaceService.typeName, FaceAnalysisService.typeName, index.nearest(new Float32Array(128))[0].id);`;
    const args = ["--input-type=module", "--eval", program];
    expect(execFileSync(process.execPath, args, { cwd: project, encoding: "utf8" })).toBe(
      "face.v1.FaceService visage.v1.FaceAnalysisService alice\n",
    );
  });

  test.each(MODULE_KINDS)("has types for %s in the oldest version of TypeScript", async (_, moduleArgs) => {
    const compiler = await installPackage("typescript", OLDEST_TYPESCRIPT);
    const errors = compile(project, moduleArgs, writeExamples(project), compiler).split("\n");
    // Connect needs a newer version, or skipLibCheck.
    const isOwn = (line: string) => !/^node_modules\/@(bufbuild|connectrpc)\//.test(line);
    expect(errors.filter(isOwn)).toEqual([""]);
  });

  describe.skipIf(!isCi).each(NODE_VERSIONS)("under Node %s", (nodeVersion) => {
    test.each<[string, readonly string[]]>([
      ["alone", []],
      ["beside the newest Connect", ["@connectrpc/connect-web"]],
    ])("is installed from the registry %s, and its example runs", async (_, others) => {
      const installed = await installPackage(`node-${process.platform}-${process.arch}`, nodeVersion);
      const node = join(installed, "bin/node");
      const other = createProject([tarball, ...others], node);
      expect(compile(other, NODENEXT, writeExamples(other))).toBe("");
      expect(await runExample(other, { node })).toEqual(MATCH);
    });
  });
});

describe.skipIf(!hasBrowser)("the installed package in Chromium", () => {
  /** Bundles a program for browsers with the installed package, and serves it. Returns the URL of a page. */
  async function serveBundle(program: string): Promise<{ url: string; code: string }> {
    mkdirSync(join(project, "page"), { recursive: true });
    writeFileSync(join(project, "page/main.js"), program);
    const warnings: string[] = [];
    await build({
      root: join(project, "page"),
      configFile: false,
      logLevel: "warn",
      build: {
        outDir: "dist",
        minify: false,
        lib: { entry: "main.js", formats: ["es"], fileName: "bundle" },
        rollupOptions: { onwarn: ({ message }) => void warnings.push(message) },
      },
    });
    expect(warnings).toEqual([]);
    const code = readFileSync(join(project, "page/dist/bundle.js"), "utf8");
    const server = createServer((request, response) => {
      const isScript = request.url === "/bundle.js";
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
      response.end(
        isScript ? code : '<link rel="icon" href="data:,"><script type="module" src="/bundle.js"></script>',
      );
    });
    const { port } = await listen(server);
    return { url: `http://127.0.0.1:${port}/`, code };
  }

  test("calls all operations from another origin with a File, and reports errors", async () => {
    const { url, code } = await serveBundle(`
      import { createVisageClient } from "@visage/client";
      globalThis.createVisageClient = createVisageClient;
    `);
    expect(code).not.toMatch(/from ?"node:|require\(/);
    const browser = await startBrowser();
    onTestFinished(() => browser.close());
    const { page, consoleErrors } = await openTab(browser, url);
    await page.waitForFunction("globalThis.createVisageClient");
    const address = `http://127.0.0.1:${service.port}`;
    const results = await page.evaluate(
      async ({ address, apiKey, base64 }) => {
        const { createVisageClient } = globalThis as never as typeof import("../../src/client/web-client.ts");
        const visage = createVisageClient({ address, apiKey });
        const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
        const file = new File([bytes], "photo.jpg");
        const failure = (call: Promise<unknown>) =>
          call.then(
            () => undefined,
            ({ name, reason, code, retryable, message }) => ({ name, reason, code, retryable, message }),
          );
        const [match, comparison, analysis, attributes, template, stream] = await Promise.all([
          visage.matchFaces(file, bytes.buffer),
          visage.compareFaces(file, file),
          visage.analyzeImage(file),
          visage.getImageAttr(file),
          visage.getFaceVec(file),
          visage.getFaceVec(file.stream()),
        ]);
        const { galleries } = visage;
        await galleries.create("page");
        const enrolled = await galleries.enrolFace("page", "somebody", file, { displayName: "Somebody" });
        const { faces } = await galleries.identify("page", template);
        const exported = [];
        for await (const { personId, template } of galleries.exportFaces("page"))
          exported.push([personId, template.embedding.length]);
        const people = [];
        for await (const { displayName } of galleries.listPeople("page")) people.push(displayName);
        await galleries.delete("page");
        const many = await Promise.all(
          Array.from({ length: 100 }, () => failure(visage.getFaceVec(new Uint8Array(9)))),
        );
        const unreachable = createVisageClient({ address: "http://127.0.0.1:1", retries: 1 });
        return {
          match,
          comparison: comparison.matches[0],
          faces: [attributes.faces.length, analysis.faces.length],
          dimensions: [template.embedding.length, stream.embedding.length],
          model: template.model,
          gallery: [enrolled.revision, faces[0]!.matches[0]!.personId, exported, people],
          imported: await failure(galleries.importFaces("page", [])),
          deleted: await failure(galleries.get("page")),
          many: [...new Set(many.map((error) => error?.reason))],
          aborted: await failure(visage.getFaceVec(file, { signal: AbortSignal.abort() })),
          late: await failure(createVisageClient({ address, apiKey, timeoutMs: 1 }).getFaceVec(file)),
          unknown: await failure(createVisageClient({ address, apiKey: "nobody" }).getFaceVec(file)),
          unreachable: await failure(unreachable.getFaceVec(file)),
          path: await failure(visage.getFaceVec({ path: "photo.jpg" })),
        };
      },
      { address, apiKey: USER, base64: photograph(3).toString("base64") },
    );
    expect(results).toEqual({
      match: { distance: 0, matched: true },
      comparison: expect.objectContaining({ distance: 0, confidence: 1, matched: true }),
      faces: [3, 3],
      dimensions: [128, 128],
      model: expect.stringMatching(/./),
      gallery: [1, "somebody", [["somebody", 128]], ["Somebody"]],
      imported: expect.objectContaining({ name: "TypeError" }),
      deleted: expect.objectContaining({ reason: "GALLERY_NOT_FOUND", code: "6001" }),
      many: ["UNSUPPORTED_FORMAT"],
      aborted: expect.objectContaining({ reason: "CANCELLED" }),
      late: expect.objectContaining({ reason: "DEADLINE_PASSED" }),
      unknown: expect.objectContaining({ name: "VisageError", reason: "UNKNOWN_USER", code: "4002" }),
      unreachable: expect.objectContaining({ reason: "UNREACHABLE", retryable: true }),
      path: expect.objectContaining({ message: expect.stringContaining("Pass a File or its bytes.") }),
    });
    expect(consoleErrors).toEqual([]);
  });
});

describe("the generated client", () => {
  const content = (value: Uint8Array) => ({ source: { case: "content" as const, value } });

  describe.each<readonly [string, (baseUrl: string) => Transport]>([
    [
      "gRPC by connect-node",
      (baseUrl) => {
        const sessionManager = new Http2SessionManager(baseUrl);
        onTestFinished(() => sessionManager.abort());
        return createGrpcTransport({ baseUrl, sessionManager });
      },
    ],
    ["gRPC-Web by connect-web", (baseUrl) => createGrpcWebTransport({ baseUrl })],
    ["Connect by connect-web", (baseUrl) => createConnectTransport({ baseUrl })],
  ])("over %s", (_, transportTo) => {
    const client = () => createClient(FaceService, transportTo(`http://127.0.0.1:${service.port}`));
    const call = { headers: { user_id: USER } };

    test("matches two photographs", async () => {
      const request = { img1: content(photograph(3)), img2: content(photograph(3)) };
      const { success, data } = await client().matchFaces(request, call);
      expect({ success, data }).toMatchObject({
        success: true,
        data: { status: "match", score: expect.stringMatching(/^0\.\d{4}$/) },
      });
    });

    test("returns the vector of a face", async () => {
      const { data } = await client().getFaceVec({ img: content(photograph(1)) }, call);
      expect(data!.vector).toHaveLength(128);
    });

    test("returns every face", async () => {
      const { data } = await client().getImageAttr({ imageAttr: content(photograph(1)) }, call);
      const { faces, imageSize } = data!.attributes!;
      expect(imageSize).toEqual([1280, 1920]);
      expect(Object.keys(faces)).toHaveLength(3);
      expect(Object.keys(faces.face_id_0!.landmarks!.faceLandMark)).toHaveLength(68);
    });

    test("returns the reason of an error", async () => {
      const noImage = content(Buffer.from("no image"));
      const error = await client()
        .getFaceVec({ img: noImage }, call)
        .then(() => undefined, ConnectError.from);
      expect(error?.code).toBe(Code.InvalidArgument);
      expect(error?.findDetails(ErrorInfoSchema)).toMatchObject([
        { reason: "UNSUPPORTED_FORMAT", metadata: { code: "2004" } },
      ]);
    });

    test("ends at the deadline", async () => {
      const late = client().getFaceVec({ img: content(photograph(1)) }, { ...call, timeoutMs: 1 });
      await expect(late).rejects.toMatchObject({ code: Code.DeadlineExceeded });
    });
  });
});
