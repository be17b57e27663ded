import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { buildImage, type Image } from "./dockerfile.ts";

const PHOTO = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo/sample1.jpg");
/** Libraries of the base image: glibc, libgcc and libstdc++. */
const BASE_LIBRARIES =
  /^(linux-vdso|\/lib.*ld-linux.*|lib(c|dl|gcc_s|m|pthread|resolv|rt|stdc\+\+))\.so(\.\d+)?$/;

// Installing all dependencies takes minutes, so these tests run only in CI.
const wanted = process.env.CI === "true" && process.platform === "linux";
if (!wanted) console.warn("The image is built and tested only with CI=true on Linux.");
const NAMESPACES = ["unshare", "--mount", "--net"];
const canContain =
  process.getuid?.() === 0 && spawnSync("unshare", [...NAMESPACES.slice(1), "ip", "link"]).status === 0;
if (wanted && !canContain)
  console.warn("Namespaces are not available: the image is tested without isolation.");

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

describe.skipIf(!wanted)("the container image", () => {
  let root: string;
  let image: Image;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "visage-image-"));
    chmodSync(root, 0o755);
    image = buildImage(root);
    rmSync(join(root, "build-stage"), { recursive: true });
  }, 600_000);
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test("serves a request as its user, on a read-only root file system without network", async () => {
    // Without namespaces, file modes keep the program from writing.
    execFileSync("chmod", ["-R", "a-w", join(root, "app")]);
    const inRoot = (word: string) =>
      word.replace(/^\/nodejs\/bin\/node$/, process.execPath).replace(/^\/(?=app|data)/, `${root}/`);
    const env = {
      PATH: process.env.PATH,
      ...Object.fromEntries(Object.entries(image.env).map(([name, value]) => [name, inRoot(value)])),
      CONTAINED: canContain ? "1" : "",
      VISAGE_PORT: String(await findFreePort()),
      VISAGE_WORKERS: "1",
      VISAGE_TRIAL_USER: "0123456789abcdef01234567",
    };
    const [node, script] = image.healthcheck.map(inRoot);
    const command = image.command.map(inRoot).join(" ");
    const client = [node, join(import.meta.dirname, "send-photo.mjs"), script, PHOTO].join(" ");
    const [program, ...args] = [
      ...(canContain ? NAMESPACES : []),
      join(import.meta.dirname, "run-contained"),
      ...[image.user, inRoot("/data"), command, client],
    ];
    const options = { env, cwd: join(root, image.workdir), encoding: "utf8", stdio: "pipe" } as const;
    const response = execFileSync(program!, args, options);
    expect(JSON.parse(response)).toMatchObject({
      status: "ok",
      data: { attributes: { image_size: [1280, 1920], face_id_0: { gender: expect.any(String) } } },
    });
  }, 120_000);

  test("has native code for this platform only, which needs no libraries beyond the base image", () => {
    const libraries = readdirSync(join(root, "app/node_modules"), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.(node|so[.\d]*|dylib|dll)$/.test(path))
      .map((path) => join(root, "app/node_modules", path));
    const own = new RegExp(`linux[-/]${process.arch}(?!-musl)`);
    expect(libraries.length).toBeGreaterThan(3);
    expect(libraries.filter((path) => !own.test(path))).toEqual([]);
    const needed = libraries.flatMap((path) =>
      execFileSync("ldd", [path], { encoding: "utf8" })
        .trim()
        .split("\n")
        .filter((line) => !line.includes(root))
        .map((line) => line.trim().split(" ")[0]!),
    );
    expect(needed.filter((name) => !BASE_LIBRARIES.test(name))).toEqual([]);
  });

  test("includes the licences and no development tools", () => {
    expect(["LICENSE", "NOTICE"].filter((name) => !existsSync(join(root, "app", name)))).toEqual([]);
    const tools = ["typescript", "vitest", "@biomejs"];
    expect(tools.filter((name) => existsSync(join(root, "app/node_modules", name)))).toEqual([]);
  });
});
