import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { runMaven } from "../support/java.ts";
import { codeBlocks, readMarkdown } from "../support/markdown.ts";
import { PHOTOS, runProgram, SDK_TIMEOUT_MS, type SdkService, startSdkService } from "../support/sdk.ts";
import { USER } from "../support/service.ts";
import { findTools } from "../support/tools.ts";

const FOLDER = join(PACKAGE_ROOT, "sdks/java");
const JARS = ["target/visage-client-0.1.0.jar", "target/visage-client-0.1.0-sources.jar"];

const ADMIN_KEY = "admin-key-of-tests-0123456789abcdef";

/** Adds to imports and statements of the README what they take from their surroundings. */
function completeClass(name: string, code: string): string {
  const [, imports = "", statements] = /^((?:import .*\n)*)([\s\S]*)$/.exec(code)!;
  return `${imports}
final class ${name} {
  void run(
      dev.visage.VisageClient visage,
      dev.visage.VisageClient operator,
      java.util.List<java.nio.file.Path> paths,
      byte[] bytes) {
${statements}  }
}
`;
}

const { wanted, paths } = findTools("javac", "jar", "mvn");

function maven(folder: string, args: readonly string[], env?: Readonly<Record<string, string>>) {
  return runMaven(paths.mvn, join(FOLDER, folder), args, env);
}

describe.runIf(wanted)("the SDK in Java", { timeout: SDK_TIMEOUT_MS }, () => {
  let service: SdkService;
  let address: string;
  beforeAll(async () => {
    service = await startSdkService({ VISAGE_ADMIN_KEY: ADMIN_KEY });
    address = service.address;
    // Without a service: mvn install must pass on its own.
    await maven(".", ["install"]);
  }, SDK_TIMEOUT_MS);
  afterAll(() => service.close());

  test("has no example in its jar", async () => {
    const listing = await runProgram(FOLDER, paths.jar, ["--list", "--file", JARS[0]!]);
    const classes = listing.split("\n").filter((path) => path.endsWith(".class"));
    expect(classes).toContain("dev/visage/VisageClient.class");
    expect(classes).toContain("dev/visage/face/v1/FaceServiceGrpc.class");
    expect(classes).toContain("dev/visage/v1/FaceAnalysisServiceGrpc.class");
    expect(classes).toContain("dev/visage/v1/GalleryServiceGrpc.class");
    expect(classes.filter((path) => !/^dev\/visage\//.test(path) || /example/i.test(path))).toEqual([]);
  });

  test("builds the same jars elsewhere, from the protos and the licence in its jar", async () => {
    const copy = mkdtempSync(join(tmpdir(), "visage-java-"));
    try {
      for (const path of ["pom.xml", "src/main"])
        cpSync(join(FOLDER, path), join(copy, path), { recursive: true });
      const protos = join(copy, "proto");
      mkdirSync(protos);
      await runProgram(protos, paths.jar, ["--extract", "--file", join(FOLDER, JARS[0]!)]);
      for (const name of ["LICENSE", "NOTICE"]) {
        const packed = join(protos, "META-INF", name);
        expect(readFileSync(packed, "utf8")).toBe(readFileSync(join(PACKAGE_ROOT, name), "utf8"));
        cpSync(packed, join(copy, name));
      }
      await runMaven(paths.mvn, copy, ["package", `-Dvisage.root=${copy}`]);
      for (const jar of JARS)
        expect(readFileSync(join(copy, jar)).equals(readFileSync(join(FOLDER, jar)))).toBe(true);
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  test("compiles the code of its README", async () => {
    const blocks = codeBlocks(readMarkdown("sdks/java/README.md"), "java");
    expect(blocks.length).toBeGreaterThan(3);
    const folder = mkdtempSync(join(tmpdir(), "visage-java-"));
    try {
      cpSync(join(FOLDER, "example/pom.xml"), join(folder, "pom.xml"));
      const sources = join(folder, "src/main/java");
      mkdirSync(sources, { recursive: true });
      blocks.forEach((code, i) => {
        const name = /^public final class (\w+)/m.exec(code)?.[1];
        const file = join(sources, `${name ?? `Snippet${i}`}.java`);
        writeFileSync(file, name ? code : completeClass(`Snippet${i}`, code));
      });
      await runMaven(paths.mvn, folder, ["compile"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("calls the service", async () => {
    const env = { ...service.testEnv, VISAGE_ADMIN_KEY: ADMIN_KEY };
    await maven(".", ["surefire:test", "-Dtest=*ServiceTest"], env);
    for (const [name, count] of [
      ["ServiceTest", 13],
      ["GalleriesServiceTest", 10],
      ["AccountServiceTest", 1],
    ]) {
      const report = readFileSync(
        join(FOLDER, `target/surefire-reports/TEST-dev.visage.${name}.xml`),
        "utf8",
      );
      expect(report).toMatch(`tests="${count}" errors="0" skipped="0" failures="0"`);
    }
  });

  test("calls the service in its example", async () => {
    const photo = join(PHOTOS, "sample3.jpg");
    const example = (name: string, ...args: string[]) =>
      maven("example", ["compile", "exec:java", `-Dexample=${name}`, `-Dexec.args=${args.join(" ")}`]);
    expect(await example("Example", address, USER, photo, photo)).toContain(
      "match: 0.0000\nnot a match: 0.5",
    );
    const faces = await example("StreamExample", address, USER, PHOTOS);
    for (const name of ["sample1.jpg", "sample3.jpg"]) expect(faces).toContain(`${name}: 3 faces`);
    expect(await example("GalleryExample", address, USER, "staff", photo, photo)).toContain(
      "face 1: Ann\nface 2: unknown\nface 3: unknown\n1 faces saved\n",
    );
  });
});
