import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { PACKAGE_ROOT } from "../../src/package-root.ts";

/** Configuration of a container image. Paths are inside the image. */
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
 * Builds the image without a container engine: runs the steps of the first stage on this machine and copies the files of
 * the second stage to a folder, which becomes the root of the image.
 */
export function buildImage(root: string): Image {
  const [build, final] = readStages();
  // Root of the first stage.
  const stage = join(root, "build-stage");
  let workdir = "/";
  for (const { instruction, text } of build!) {
    const folder = join(stage, workdir);
    if (instruction === "WORKDIR") workdir = text;
    if (instruction === "COPY") copyContext(text.split(" "), folder);
    if (instruction === "RUN") run(text, folder, stage);
    mkdirSync(join(stage, workdir), { recursive: true });
  }
  for (const { text } of findSteps(final!, "COPY")) {
    const [from, to] = text.split(" ").filter((word) => !word.startsWith("--"));
    cpSync(join(stage, from!), join(root, to!), { recursive: true });
  }
  return readImage();
}

/** Reads the configuration of the image. */
export function readImage(): Image {
  const [, final] = readStages();
  const last = (instruction: string) => findSteps(final!, instruction).at(-1)!.text;
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

/** Parses the steps of each stage. */
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

function findSteps(stage: readonly Step[], instruction: string): Step[] {
  return stage.filter((step) => step.instruction === instruction);
}

function parseList(text: string): string[] {
  return JSON.parse(text.slice(text.indexOf("["))) as string[];
}

/** Copies files of the build context. */
function copyContext(words: readonly string[], folder: string): void {
  const sources = words.slice(0, -1);
  for (const path of listContextFiles())
    if (sources.includes(".") || sources.includes(path))
      cpSync(join(PACKAGE_ROOT, path), join(folder, path), { recursive: true });
}

/** Lists the build context: the files of the project that match a line with `!` in the ignore file. */
function listContextFiles(): string[] {
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

/** Runs a step in a shell. Cache mounts of the project are links to this checkout. */
function run(text: string, folder: string, stage: string): void {
  for (const [, target] of text.matchAll(/--mount=type=cache,target=\/build\/(\S+)/g)) {
    mkdirSync(dirname(join(folder, target!)), { recursive: true });
    symlinkSync(resolve(PACKAGE_ROOT, target!), join(folder, target!));
  }
  const command = text.replaceAll(/--mount=\S+ /g, "").replaceAll(/ \/(?=\w)/g, ` ${stage}/`);
  execFileSync("bash", ["-euc", command], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
}
