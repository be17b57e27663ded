import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readManifest } from "../../src/core/index.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";

function run(script: string, options: { cwd?: string; input?: string } = {}) {
  return spawnSync(process.execPath, [join(PACKAGE_ROOT, "tools", script)], {
    cwd: PACKAGE_ROOT,
    encoding: "utf8",
    ...options,
  });
}

describe("the licence check", () => {
  /** Runs the check on a project with one dependency. */
  function checkLicence(name: string, license?: string) {
    const cwd = mkdtempSync(join(tmpdir(), "visage-licences-"));
    const packages = { "": {}, [`node_modules/${name}`]: { version: "1.0.0", license } };
    writeFileSync(join(cwd, "package-lock.json"), JSON.stringify({ packages }));
    mkdirSync(join(cwd, "models"));
    writeFileSync(join(cwd, "models/manifest.json"), "{}");
    return run("licences.mjs", { cwd });
  }

  test("lists every dependency and every network and accepts them", () => {
    const { status, stdout, stderr } = run("licences.mjs");
    expect(stderr).toBe("");
    expect(status).toBe(0);
    const { dependencies } = JSON.parse(readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    for (const name of Object.keys(dependencies)) expect(stdout).toMatch(new RegExp(`^${name} `, "m"));
    for (const name of Object.keys(readManifest()))
      expect(stdout).toMatch(new RegExp(`^network ${name} `, "m"));
  });

  test.each(["MIT", "(MIT OR GPL-3.0-only)", "Apache-2.0 AND BSD-3-Clause"])("accepts %s", (licence) => {
    expect(checkLicence("some", licence).status).toBe(0);
  });

  test.each(["GPL-3.0-only", "AGPL-3.0", "LGPL-3.0-or-later", "MIT AND GPL-2.0-only", "BUSL-1.1", undefined])(
    "rejects %s",
    (licence) => {
      const { status, stderr } = checkLicence("some", licence);
      expect(status).toBe(1);
      expect(stderr).toMatch("licences: some is under");
    },
  );

  test("accepts the LGPL of libvips, which is linked dynamically", () => {
    expect(checkLicence("@img/sharp-libvips-linux-x64", "LGPL-3.0-or-later").status).toBe(0);
  });
});

describe("the advisory check", () => {
  const advisory = { url: "https://example.org/GHSA-1", name: "tar", severity: "high", title: "Bad" };

  test("passes without advisories", () => {
    expect(run("audit.mjs", { input: JSON.stringify({ vulnerabilities: {} }) }).status).toBe(0);
  });

  test("fails on an advisory that is not accepted and reports it once", () => {
    const vulnerabilities = { tar: { via: [advisory] }, visage: { via: ["tar", advisory] } };
    const { status, stderr } = run("audit.mjs", { input: JSON.stringify({ vulnerabilities }) });
    expect(status).toBe(1);
    expect(stderr).toBe("audit: GHSA-1 tar (high): Bad\n");
  });

  test("fails if npm audit failed", () => {
    expect(run("audit.mjs", { input: JSON.stringify({ message: "no network" }) }).status).toBe(1);
  });
});
