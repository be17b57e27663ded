import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { runMaven } from "../support/java.ts";
import { PHOTOS, runProgram, SDK_TIMEOUT_MS, type SdkService, startSdkService } from "../support/sdk.ts";
import { USER } from "../support/service.ts";
import { findTools } from "../support/tools.ts";

const FOLDER = join(PACKAGE_ROOT, "sdks/java");
const JARS = ["target/visage-client-0.1.0.jar", "target/visage-client-0.1.0-sources.jar"];

const { wanted, paths } = findTools("javac", "jar", "mvn");

function maven(folder: string, args: readonly string[], env?: Readonly<Record<string, string>>) {
  return runMaven(paths.mvn, join(FOLDER, folder), args, env);
}

describe.runIf(wanted)("the SDK in Java", { timeout: SDK_TIMEOUT_MS }, () => {
  let service: SdkService;
  let address: string;
  beforeAll(async () => {
    service = await startSdkService();
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

  test("builds the same jars elsewhere, from the protos of its jar", async () => {
    const copy = mkdtempSync(join(tmpdir(), "visage-java-"));
    try {
      for (const path of ["pom.xml", "src/main"])
        cpSync(join(FOLDER, path), join(copy, path), { recursive: true });
      await runProgram(copy, paths.jar, ["--extract", "--file", join(FOLDER, JARS[0]!)]);
      await runMaven(paths.mvn, copy, ["package", `-Dvisage.protos=${copy}`]);
      for (const jar of JARS)
        expect(readFileSync(join(copy, jar)).equals(readFileSync(join(FOLDER, jar)))).toBe(true);
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  test("calls the service", async () => {
    await maven(".", ["surefire:test", "-Dtest=ServiceTest,GalleriesServiceTest"], service.testEnv);
    for (const [name, count] of [
      ["ServiceTest", 13],
      ["GalleriesServiceTest", 7],
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
    expect(await example("Example", address, USER, photo, photo)).toMatch(/match: 0\.\d{4}$/m);
    const faces = await example("StreamExample", address, USER, PHOTOS);
    for (const name of ["sample1.jpg", "sample3.jpg"]) expect(faces).toContain(`${name}: 3 faces`);
    expect(await example("GalleryExample", address, USER, "staff", photo, photo)).toContain(
      "face 1: Ann\nface 2: unknown\nface 3: unknown\n1 faces saved\n",
    );
  });
});
