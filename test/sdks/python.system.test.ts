import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import {
  installGenerators,
  PHOTOS,
  runProgram,
  SDK_PYTHON,
  SDK_TIMEOUT_MS,
  type SdkService,
  startSdkService,
} from "../support/sdk.ts";
import { ADMIN_KEY, USER } from "../support/service.ts";
import { findTools } from "../support/tools.ts";

const { wanted } = findTools("python3");
const EXAMPLES = ["example.py", "example_async.py", "example_stream.py", "example_gallery.py"];
const SDK = join(PACKAGE_ROOT, "sdks/python");

describe.runIf(wanted)("the Python package", { timeout: SDK_TIMEOUT_MS }, () => {
  let service: SdkService;
  /** A copy of sdks/python without `src`, so that tests can only import the installed package. */
  let folder: string;
  let python: string;
  const run = (program: string, ...args: string[]) =>
    runProgram(folder, program, args, { ...service.testEnv, VISAGE_ADMIN_KEY: ADMIN_KEY });

  beforeAll(async () => {
    // The limit of the queue is the default, so that the service rejects most of the parallel calls at first.
    service = await startSdkService({ VISAGE_MAX_QUEUE_WAIT_MS: "1000", VISAGE_ADMIN_KEY: ADMIN_KEY });
    await installGenerators("python");
    folder = mkdtempSync(join(tmpdir(), "visage-python-"));
    // A build leaves files next to the sources.
    cpSync(SDK, folder, { recursive: true });
    // The source distribution, and the wheel from it.
    await run(SDK_PYTHON, "-m", "build");
    rmSync(join(folder, "src"), { recursive: true });
    await run(SDK_PYTHON, "-m", "venv", "venv");
    python = join(folder, "venv/bin/python");
    await run(python, "-m", "pip", "install", "--quiet", "--find-links", "dist", "visage-client");
    // The web application of the tests.
    const pins = readFileSync(join(SDK, "requirements-dev.txt"), "utf8");
    const app = pins.match(/^(?:fastapi|httpx|uvicorn)==.+$/gm)!;
    await run(python, "-m", "pip", "install", "--quiet", ...app);
  }, SDK_TIMEOUT_MS);
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await service.close();
  });

  test("puts all modules and their types below visage", async () => {
    const listing = await run(python, "-m", "zipfile", "--list", "dist/visage_client-0.1.0-py3-none-any.whl");
    const files = listing.split("\n").flatMap((line) => /^[\w./-]+\/\S+/.exec(line)?.[0] ?? []);
    const modules = files.filter((file) => !file.includes(".dist-info/"));
    expect(modules.filter((file) => !file.startsWith("visage/"))).toEqual([]);
    expect(modules).toEqual(
      expect.arrayContaining([
        "visage/py.typed",
        "visage/face/v1/face_pb2.pyi",
        "visage/face/v1/face_pb2_grpc.pyi",
        "visage/v1/face_analysis_pb2.pyi",
        "visage/v1/face_analysis_pb2_grpc.pyi",
        "visage/v1/gallery_pb2.pyi",
        "visage/v1/gallery_pb2_grpc.pyi",
        "visage/v1/account_pb2_grpc.pyi",
        "visage/v1/admin_pb2_grpc.pyi",
      ]),
    );
  });

  test("has the licence in its wheel and its source distribution", async () => {
    const wheel = await run(python, "-m", "zipfile", "--list", "dist/visage_client-0.1.0-py3-none-any.whl");
    const source = await run(python, "-m", "tarfile", "--list", "dist/visage_client-0.1.0.tar.gz");
    for (const name of ["LICENSE", "NOTICE"]) {
      expect(wheel).toContain(`.dist-info/licenses/${name}`);
      expect(source).toContain(`visage_client-0.1.0/${name}`);
      expect(readFileSync(join(SDK, name), "utf8")).toBe(readFileSync(join(PACKAGE_ROOT, name), "utf8"));
    }
  });

  test("is written in the syntax of Python 3.9", async () => {
    const parse = [
      "import ast, pathlib, sys",
      "for path in pathlib.Path(sys.argv[1]).rglob('*.py'):",
      "    ast.parse(path.read_text(), str(path), feature_version=(3, 9))",
    ].join("\n");
    await run(python, "-c", parse, SDK);
  });

  test("has types that pass mypy --strict", async () => {
    const mypy = ["-m", "mypy", "--strict", "--config-file=", `--python-executable=${python}`];
    await run(SDK_PYTHON, ...mypy, ...EXAMPLES);
    // The types of results and arguments are real, not Any, and the results of one client can be awaited.
    const misuse = [
      "import visage",
      "visage.VisageClient('http://localhost').match_faces('one.jpg', b'').distance.nope",
      "visage.AsyncVisageClient('http://localhost').match_faces(b'', b'').distance",
    ].join("\n");
    await expect(run(SDK_PYTHON, ...mypy, "-c", misuse)).rejects.toThrow(/Found 3 errors/);
    const cache = join(folder, ".mypy");
    await runProgram(SDK, SDK_PYTHON, ["-m", "mypy", "--cache-dir", cache, "src", "tests", ...EXAMPLES]);
  });

  test("passes its tests against the service", async () => {
    await run(python, "-W", "error::ResourceWarning", "-m", "unittest", "discover", "-s", "tests");
  });

  test("calls the service in its example", async () => {
    const photos = ["sample3.jpg", "sample3.jpg"].map((name) => join(PHOTOS, name));
    const example = (key: string) => run(python, "example.py", service.address, key, ...photos);
    expect(await example(USER)).toMatch(/^match: 0\.0000\nno match: 0\.\d+\nno match: 0\.\d+\n$/);
    await expect(example("nobody")).rejects.toThrow(/^UNKNOWN_USER: The key/m);
  });

  test("analyses photographs at the same time in its example", async () => {
    const photos = ["sample3.jpg", "sample1.jpg"].map((name) => join(PHOTOS, name));
    const output = await run(python, "example_async.py", service.address, USER, ...photos);
    expect(output).toMatch(
      /^(sample3\.jpg: (fe)?male, \d+-\d+\n){3}(sample1\.jpg: (fe)?male, \d+-\d+\n){3}$/,
    );
  });

  test("analyses a folder by stream in its example", async () => {
    const output = await run(python, "example_stream.py", service.address, USER, PHOTOS);
    expect(output.split("\n")).toEqual(
      expect.arrayContaining(["sample1.jpg: 3 faces", "sample3.jpg: 3 faces"]),
    );
  });

  test("enrols and identifies in its example", async () => {
    const photo = join(PHOTOS, "sample3.jpg");
    const output = await run(python, "example_gallery.py", service.address, USER, "staff", photo, photo);
    expect(output).toBe("face 1: Ann (0.00)\nface 2: unknown\nface 3: unknown\n1 faces saved\n");
  });
});
