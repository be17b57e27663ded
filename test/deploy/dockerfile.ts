import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";

/** What an image runs, and how. Paths are those inside the image. */
export interface Image {
  readonly user: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

interface Step {
  readonly instruction: string;
  readonly text: string;
}

const DOCKERFILE = join(PACKAGE_ROOT, "deploy/Dockerfile");

/**
 * Does without an engine what `docker build` would do: the steps of the first stage on this machine instead of
 * in its base image, then the copies into the second. The folder becomes the root of the image.
 */
export function buildImage(root: string): Image {
  const [build, final] = readStages();
  // Inside the folder, as the first stage's own root.
  const stage = join(root, "build-stage");
  let workdir = "/";
  for (const { instruction, text } of build!) {
    const folder = join(stage, workdir);
    if (instruction === "WORKDIR") workdir = text;
    if (instruction === "COPY") copyContext(text.split(" "), folder);
    if (instruction === "RUN") run(text, folder, stage);
    mkdirSync(join(stage, workdir), { recursive: true });
  }
  for (const { text } of stepsOf(final!, "COPY")) {
    const [from, to] = text.split(" ").filter((word) => !word.startsWith("--"));
    cpSync(join(stage, from!), join(root, to!), { recursive: true });
  }

  const last = (instruction: string) => stepsOf(final!, instruction).at(-1)!.text;
  return {
    user: last("USER").split(":")[0]!,
    workdir: last("WORKDIR"),
    env: Object.fromEntries(
      last("ENV")
        .split(/\s+/)
        .map((pair) => pair.split("=") as [string, string]),
    ),
    command: [...parseList(last("ENTRYPOINT")), ...parseList(last("CMD"))],
    healthcheck: parseList(last("HEALTHCHECK")),
  };
}

/** The steps of each stage. */
function readStages(): Step[][] {
  const lines = readFileSync(DOCKERFILE, "utf8")
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter(Boolean);
  const stages: Step[][] = [];
  for (const line of lines) {
    const [, instruction, text] = /^([A-Z]+) +(.*)$/.exec(line)!;
    if (instruction === "FROM") stages.push([]);
    stages.at(-1)!.push({ instruction: instruction!, text: text!.trim() });
  }
  return stages;
}

function stepsOf(stage: readonly Step[], instruction: string): Step[] {
  return stage.filter((step) => step.instruction === instruction);
}

function parseList(text: string): string[] {
  return JSON.parse(text.slice(text.indexOf("["))) as string[];
}

/** Copies what the ignore file lets through. */
function copyContext(words: readonly string[], folder: string): void {
  const sources = words.slice(0, -1);
  for (const path of contextFiles())
    if (sources.includes(".") || sources.includes(path))
      cpSync(join(PACKAGE_ROOT, path), join(folder, path), { recursive: true });
}

/** Files that a build is sent: those of the project that a line with `!` names, by itself or by its folder. */
function contextFiles(): string[] {
  const lines = readFileSync(`${DOCKERFILE}.dockerignore`, "utf8").split("\n");
  const allowed = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: PACKAGE_ROOT,
    encoding: "utf8",
  });
  return files
    .trim()
    .split("\n")
    .filter((file) => allowed.some((path) => file === path || file.startsWith(`${path}/`)));
}

/** Runs a step in the shell; a cache of the project is this checkout's own. */
function run(text: string, folder: string, stage: string): void {
  for (const [, target] of text.matchAll(/--mount=type=cache,target=\/build\/(\S+)/g)) {
    mkdirSync(dirname(join(folder, target!)), { recursive: true });
    symlinkSync(resolve(PACKAGE_ROOT, target!), join(folder, target!));
  }
  const command = text.replaceAll(/--mount=\S+ /g, "").replaceAll(/ \/(?=\w)/g, ` ${stage}/`);
  execFileSync("bash", ["-euc", command], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
}
