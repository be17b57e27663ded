// `npm start` in a copy of the checkout, and in the published package.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { photograph } from "../support/images.ts";

const TIMEOUT_MS = 600_000;
const WAIT = { timeout: 300_000, interval: 50 };
const USER = "user-of-the-checkout";

const folder = mkdtempSync(join(tmpdir(), "visage-start-"));
const checkout = join(folder, "checkout");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Links the installed packages into a folder. Its own node_modules/.bin stays writable. */
function linkPackages(target: string): void {
  const installed = join(PACKAGE_ROOT, "node_modules");
  mkdirSync(join(target, "node_modules/.bin"), { recursive: true });
  for (const name of readdirSync(installed).filter((entry) => !entry.startsWith(".")))
    symlinkSync(join(installed, name), join(target, "node_modules", name));
}

/** A service that `npm start` runs in a folder. */
class Started {
  readonly process: ChildProcess;
  output = "";

  constructor(cwd: string) {
    this.process = spawn("npm", ["start"], {
      cwd,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        VISAGE_PORT: "0",
        VISAGE_METRICS_PORT: "off",
        VISAGE_TRIAL_USER: USER,
        VISAGE_DATA_DIR: mkdtempSync(join(folder, "data-")),
        VISAGE_WORKERS: "1",
        VISAGE_MAX_QUEUE_WAIT_MS: "60000",
      },
    });
    for (const stream of [this.process.stdout!, this.process.stderr!])
      stream.on("data", (text) => {
        this.output += text;
      });
    onTestFinished(() => this.stop("SIGKILL"));
  }

  async port(): Promise<number> {
    await expect
      .poll(() => `${this.process.exitCode ?? this.output}`, WAIT)
      .toMatch(/listens at \S+:\d+ |^\d+$/);
    return Number(/listens at \S+:(\d+) /.exec(this.output)?.[1] ?? expect.fail(this.output));
  }

  async analyze(): Promise<number> {
    const body = new FormData();
    body.append("img", new Blob([photograph(3).slice()]));
    const url = `http://127.0.0.1:${await this.port()}/get_face_vec`;
    const response = await fetch(url, { method: "POST", headers: { user_id: USER }, body });
    await response.body?.cancel();
    return response.status;
  }

  /** Command lines and ids of the processes of the service. */
  processes(): { readonly pid: number; readonly args: string }[] {
    const lines = execFileSync("ps", ["-A", "-o", "pgid=,pid=,args="], { encoding: "utf8" }).split("\n");
    return lines
      .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [])
      .filter(([, group]) => Number(group) === this.process.pid)
      .map(([, , pid, args]) => ({ pid: Number(pid), args: args! }));
  }

  worker(): { readonly pid: number; readonly args: string } | undefined {
    return this.processes().find(({ args }) => args.includes("worker.js"));
  }

  /** Sends a signal to npm and the service, and waits until they have ended. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = once(this.process, "exit");
    process.kill(-this.process.pid!, signal);
    await exited;
  }
}

const buildTime = () => statSync(join(checkout, "dist/src/cli/main.js")).mtimeMs;

describe.runIf(process.platform === "linux")("npm start in a checkout", () => {
  beforeAll(() => {
    const files = ["src", "gen", "bench", "tools", "models", "proto", "docs", "package.json"];
    for (const name of [...files, "package-lock.json", "tsconfig.json", "SECURITY.md", ".npmrc"])
      cpSync(join(PACKAGE_ROOT, name), join(checkout, name), { recursive: true, preserveTimestamps: true });
    linkPackages(checkout);
  });

  test(
    "compiles once for two that start together, and again only for a changed source",
    async () => {
      const [one, other] = [new Started(checkout), new Started(checkout)];
      expect(await Promise.all([one.analyze(), other.analyze()])).toEqual([200, 200]);
      const builtMs = buildTime();
      await other.stop("SIGINT");
      expect(await new Started(checkout).analyze()).toBe(200);
      expect(buildTime()).toBe(builtMs);

      // A later start with other sources leaves the files of a running service alone.
      writeFileSync(join(checkout, "src/workers/added.ts"), "export const added = 1;\n");
      expect(await new Started(checkout).analyze()).toBe(200);
      expect(buildTime()).toBeGreaterThan(builtMs);
      expect(existsSync(join(checkout, "dist/src/workers/added.js"))).toBe(true);
      const { pid, args } = one.worker()!;
      process.kill(pid, "SIGKILL");
      await expect.poll(() => one.worker()?.pid ?? pid, WAIT).not.toBe(pid);
      expect(one.worker()!.args).toBe(args);
      expect(await one.analyze()).toBe(200);
      const page = await fetch(`http://127.0.0.1:${await one.port()}/docs`);
      const [script] = /assets\/[\w-]+\.js/.exec(await page.text())!;
      expect((await fetch(`http://127.0.0.1:${await one.port()}/${script}`)).status).toBe(200);

      rmSync(join(checkout, "src/workers/added.ts"));
      expect(await new Started(checkout).analyze()).toBe(200);
      expect(existsSync(join(checkout, "dist/src/workers/added.js"))).toBe(false);
      expect(await one.analyze()).toBe(200);
    },
    TIMEOUT_MS,
  );

  test(
    "fails without a service if a source does not compile, and keeps the last build",
    async () => {
      const source = join(checkout, "src/resource-stack.ts");
      const before = readFileSync(source);
      writeFileSync(source, "export const broken: string = 1;\n");
      onTestFinished(() => writeFileSync(source, before));
      const started = new Started(checkout);
      expect(await once(started.process, "exit")).not.toEqual([0, null]);
      expect(started.output).toContain("resource-stack.ts");
      expect(started.output).not.toContain("listens at");
      expect(existsSync(join(checkout, "dist/src/cli/main.js"))).toBe(true);
    },
    TIMEOUT_MS,
  );

  test("leaves no copy behind", async () => {
    const started = new Started(checkout);
    await started.port();
    await started.stop("SIGTERM");
    await expect
      .poll(() => readdirSync(checkout).filter((name) => name.startsWith(".dist-")), WAIT)
      .toEqual([]);
  }, 120_000);
});

test("npm start in the published package runs its dist/ without a build", async () => {
  const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder];
  const tarball = execFileSync("npm", args, { cwd: PACKAGE_ROOT, encoding: "utf8" }).trim();
  const published = join(folder, "package");
  execFileSync("tar", ["-xzf", join(folder, tarball), "-C", folder]);
  linkPackages(published);
  const started = new Started(published);
  expect(await started.analyze()).toBe(200);
  expect(started.worker()!.args).toContain(join(published, "dist/src/workers/worker.js"));
}, 120_000);
