import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";

interface PackageJson {
  readonly scripts: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly allowScripts: Record<string, boolean>;
}

/** onnxruntime-node downloads CUDA libraries on this platform only. */
const hasDownload = process.platform === "linux" && process.arch === "x64";
// The installation of all dependencies takes minutes and needs the registry.
const isCi = process.env.CI === "true";

/** The environment of npm without the settings of this machine. */
const env = { PATH: process.env.PATH, HOME: process.env.HOME, npm_config_userconfig: "/dev/null" };

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, "utf8")) as T;
}

const manifest = readJson<PackageJson>(join(PACKAGE_ROOT, "package.json"));

describe("a checkout", () => {
  const { packages } = readJson<{ packages: Record<string, { hasInstallScript?: boolean }> }>(
    join(PACKAGE_ROOT, "package-lock.json"),
  );

  test("runs no install script of a dependency, by allowScripts of npm 11.16 and later", () => {
    const names = Object.entries(packages)
      .filter(([path, { hasInstallScript }]) => path !== "" && hasInstallScript)
      .map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length));
    for (const name of [...names, "onnxruntime-node"])
      expect(manifest.allowScripts, name).toHaveProperty([name], false);
  });

  test("does not download CUDA libraries with older versions of npm", () => {
    // Without this flag in the lock file, `npm ci` does not look for install scripts of the package. "npm install" may
    // add the flag again: remove it then.
    expect(packages["node_modules/onnxruntime-node"]).not.toHaveProperty("hasInstallScript");
  });

  test("causes no warning of npm", () => {
    const { status, stderr } = spawnSync("npm", ["pkg", "get", "name"], {
      cwd: PACKAGE_ROOT,
      env,
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });
});

describe.skipIf(!hasDownload)("npm install of the package", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "visage-install-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Packs a folder whose name is `package` as npm does. */
  function pack(name: string): string {
    const tarball = join(folder, `${name}.tgz`);
    execFileSync("tar", ["-czf", tarball, "-C", join(folder, name), "package"]);
    return tarball;
  }

  /** Copies a dependency and everything that it depends on. */
  function copyDependency(name: string, target: string): void {
    const source = join(PACKAGE_ROOT, "node_modules", name);
    if (existsSync(join(target, name))) return;
    cpSync(source, join(target, name), { recursive: true });
    for (const nested of Object.keys(readJson<PackageJson>(join(source, "package.json")).dependencies ?? {}))
      if (!existsSync(join(source, "node_modules", nested))) copyDependency(nested, target);
  }

  /** Packs onnxruntime-node with its real install script, but without its large libraries. */
  function packRuntime(): string {
    const source = join(PACKAGE_ROOT, "node_modules/onnxruntime-node");
    const target = join(folder, "runtime/package");
    const bin = join(target, "bin/napi-v6", process.platform, process.arch);
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "onnxruntime_binding.node"), "");
    cpSync(join(source, "script"), join(target, "script"), { recursive: true });
    const runtime = readJson<PackageJson>(join(source, "package.json"));
    const bundled = ["adm-zip", "global-agent"];
    for (const name of bundled) copyDependency(name, join(target, "node_modules"));
    const dependencies = Object.fromEntries(bundled.map((name) => [name, "*"]));
    const scripts = { postinstall: runtime.scripts.postinstall };
    const changes = { scripts, dependencies, bundleDependencies: bundled };
    writeFileSync(join(target, "package.json"), JSON.stringify({ ...runtime, ...changes }));
    return pack("runtime");
  }

  /** Packs this package with its real preinstall script, but with onnxruntime-node as its only dependency. */
  function packVisage(name: string, runtime: string, preinstall: string | undefined): string {
    const target = join(folder, name, "package");
    mkdirSync(join(target, "tools"), { recursive: true });
    cpSync(join(PACKAGE_ROOT, "tools/skip-cuda-download.mjs"), join(target, "tools/skip-cuda-download.mjs"));
    const dependencies = { "onnxruntime-node": `file:${runtime}` };
    writeFileSync(
      join(target, "package.json"),
      JSON.stringify({ name: "visage", version: "0.0.0", scripts: { preinstall }, dependencies }),
    );
    return pack(name);
  }

  /** Starts a proxy that rejects every connection and records the hosts. */
  async function startProxy() {
    const hosts: string[] = [];
    const server = createServer();
    server.on("connect", ({ url }, socket) => {
      hosts.push(url ?? "");
      socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    return { hosts, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  /** Installs a tarball in an empty project. Returns the exit code of npm and the hosts that install scripts contact. */
  async function install(tarball: string, ...args: string[]) {
    const proxy = await startProxy();
    const project = mkdtempSync(join(folder, "project-"));
    writeFileSync(join(project, "package.json"), "{}");
    const child = spawnNpm(["install", "--no-audit", "--no-fund", ...args, tarball], project, proxy.url);
    const [status] = (await once(child, "close")) as [number];
    return { status, hosts: proxy.hosts, project };
  }

  function spawnNpm(args: string[], cwd: string, proxyUrl: string) {
    return spawn("npm", args, { cwd, env: { ...env, GLOBAL_AGENT_HTTPS_PROXY: proxyUrl }, stdio: "ignore" });
  }

  test("downloads no CUDA libraries, with the real install script of onnxruntime-node", async () => {
    const runtime = packRuntime();
    const unprotected = await install(packVisage("unprotected", runtime, undefined), "--offline");
    expect(unprotected.status).not.toBe(0);
    expect(unprotected.hosts).toHaveLength(1);

    const { preinstall } = manifest.scripts;
    const { status, hosts } = await install(packVisage("protected", runtime, preinstall), "--offline");
    expect({ status, hosts }).toEqual({ status: 0, hosts: [] });
  });

  test.skipIf(!isCi)(
    "installs the published package with all dependencies, and the command line works",
    async () => {
      execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], {
        cwd: PACKAGE_ROOT,
        env,
      });
      const { version } = readJson<{ version: string }>(join(PACKAGE_ROOT, "package.json"));
      const { status, hosts, project } = await install(
        join(folder, `visage-${version}.tgz`),
        "--prefer-offline",
      );
      expect({ status, hosts }).toEqual({ status: 0, hosts: [] });
      const bin = join(project, "node_modules/onnxruntime-node/bin/napi-v6/linux/x64");
      expect(statSync(join(bin, "libonnxruntime_providers_cuda.so")).size).toBe(0);
      const printed = execFileSync(join(project, "node_modules/.bin/visage"), ["--version"], {
        encoding: "utf8",
      });
      expect(printed).toBe(`${version}\n`);
    },
    600_000,
  );
});
