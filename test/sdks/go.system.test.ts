import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { codeBlocks, readMarkdown } from "../support/markdown.ts";
import { PHOTOS, runProgram, SDK_TIMEOUT_MS, type SdkService, startSdkService } from "../support/sdk.ts";
import { USER } from "../support/service.ts";
import { findTools } from "../support/tools.ts";

const SDK = join(PACKAGE_ROOT, "sdks/go");
const MODULE = "github.com/visage-face/visage/sdks/go";
const VERSION = "v0.1.0";
const ADMIN_KEY = "admin-key-of-tests-0123456789abcdef";

/** Adds to statements of the README what they take from their surroundings. */
function completeProgram(statements: string): string {
  return `package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"time"

	visage "${MODULE}"
	visagev1 "${MODULE}/visage/v1"
)

var (
	ctx              context.Context
	client, operator *visage.Client
	paths            []string
	content          []byte
	upload           io.Reader
	_                = log.Print
	_                = time.Now
	_                visagev1.Face
)

func main() { fmt.Println(run()) }

func run() error {
${statements}	return nil
}
`;
}

const { wanted, paths } = findTools("go", "git");

describe.runIf(wanted)("the Go module", { timeout: SDK_TIMEOUT_MS }, () => {
  let service: SdkService;
  let address: string;
  let folder: string;
  beforeAll(async () => {
    // The limit of the queue is the default, so that the service rejects most of the parallel calls at first.
    service = await startSdkService({ VISAGE_MAX_QUEUE_WAIT_MS: "1000", VISAGE_ADMIN_KEY: ADMIN_KEY });
    address = service.address;
    folder = mkdtempSync(join(tmpdir(), "visage-go-"));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await service.close();
  });

  test("supports the Go version of its go.mod", async () => {
    // vet reports what the standard library of that version lacks.
    await runProgram(SDK, paths.go, ["vet", "./..."]);
    const tidy = ["mod", "tidy", "-diff"];
    expect(await runProgram(SDK, paths.go, tidy)).toBe("");
  });

  test("passes its tests against the service", async () => {
    // Go would reuse results of a run against another service.
    const env = { ...service.testEnv, VISAGE_ADMIN_KEY: ADMIN_KEY };
    const output = await runProgram(SDK, paths.go, ["test", "-count=1", "-v", "."], env);
    expect(output).toContain("--- PASS: TestServiceAnswers300CallsAtOnce");
    expect(output).not.toContain("--- SKIP");
  });

  test("compiles the code of its README", async () => {
    const blocks = codeBlocks(readMarkdown("sdks/go/README.md"), "go");
    expect(blocks.length).toBeGreaterThan(3);
    const replaced = blocks.map((code, i) => {
      const file = join(folder, `readme-${i}.go`);
      writeFileSync(file, code.startsWith("package ") ? code : completeProgram(code));
      return [join(SDK, `readme/${i}/main.go`), file];
    });
    const overlay = join(folder, "readme.json");
    writeFileSync(overlay, JSON.stringify({ Replace: Object.fromEntries(replaced) }));
    await runProgram(SDK, paths.go, [
      "build",
      `-overlay=${overlay}`,
      `-o=${join(folder, "readme")}/`,
      ...blocks.map((_, i) => `./readme/${i}`),
    ]);
  });

  test("analyses a folder by stream in its example", async () => {
    const output = await runProgram(SDK, paths.go, ["run", "./example/stream", address, USER, PHOTOS]);
    expect(output.split("\n")).toEqual(
      expect.arrayContaining(["sample1.jpg: 3 faces", "sample3.jpg: 3 faces"]),
    );
  });

  test("enrols and identifies in its example", async () => {
    const photo = join(PHOTOS, "sample3.jpg");
    const args = ["run", "./example/gallery", address, USER, "staff", photo, photo];
    expect(await runProgram(SDK, paths.go, args)).toBe(
      "face 1: Ann (0.00)\nface 2: unknown\nface 3: unknown\n1 faces saved\n",
    );
  });

  test("can be fetched by go get and used without a replace directive", async () => {
    const remote = join(folder, "remote");
    publish(remote);
    const program = join(folder, "program");
    mkdirSync(program);
    writeFileSync(join(program, "go.mod"), "module example.com/program\n\ngo 1.23.0\n");
    cpSync(join(SDK, "example/main.go"), join(program, "main.go"));
    const [cache, proxy] = (await runProgram(SDK, paths.go, ["env", "GOMODCACHE", "GOPROXY"])).split("\n");
    // Git fetches the repository from the local folder. Modules of others come from the cache or, as usual, from the proxy.
    const env = {
      GOFLAGS: "-mod=mod -buildvcs=false -modcacherw",
      GOMODCACHE: join(folder, "modules"),
      GOPROXY: `file://${cache!}/cache/download,${proxy!}`,
      GOPRIVATE: "github.com/visage-face",
      GONOSUMDB: "*",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: `url.file://${remote}.insteadOf`,
      GIT_CONFIG_VALUE_0: "https://github.com/visage-face/visage",
    };
    await runProgram(program, paths.go, ["get", `${MODULE}@${VERSION}`], env);
    await runProgram(program, paths.go, ["build", "-o", "program", "."], env);
    expect(readFileSync(join(program, "go.mod"), "utf8")).toContain(`${MODULE} ${VERSION}`);

    const photo = join(PHOTOS, "sample3.jpg");
    const example = (key: string) => runProgram(program, "./program", [address, key, photo, photo]);
    const [first, ...others] = (await example(USER)).trimEnd().split("\n");
    expect(first).toBe("match: 0.0000");
    expect(others).toEqual([
      expect.stringMatching(/^not a match: 0\.\d{4}$/),
      expect.stringMatching(/^not a match: 0\.\d{4}$/),
    ]);
    await expect(example("nobody")).rejects.toThrow(/^visage: UNKNOWN_USER: The key/m);
  });

  /** Makes a Git repository with the SDK at its path and a tag of its version, as a release would. */
  function publish(remote: string): void {
    cpSync(SDK, join(remote, "sdks/go"), { recursive: true });
    for (const args of [
      ["init", "--quiet"],
      ["add", "."],
      ["-c", "user.name=Test", "-c", "user.email=test@example.com", "commit", "--quiet", "-m", "Release"],
      ["tag", `sdks/go/${VERSION}`],
    ])
      execFileSync(paths.git, args, { cwd: remote });
  }
});
