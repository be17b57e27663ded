// Bulk jobs on local Ray, whose processes are killed.
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createVisageClient, type VisageClient } from "../../src/client/visage-client.ts";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { jpegSegment, smallPortrait, withSegments } from "../support/images.ts";
import { installGenerators, PROGRAM_ENV, runProgram, SDK_PYTHON, SDK_TIMEOUT_MS } from "../support/sdk.ts";
import { startTestService, USER } from "../support/service.ts";
import { findTools } from "../support/tools.ts";

const { wanted, paths } = findTools("ray", "python3");
const EXAMPLE = join(PACKAGE_ROOT, "examples/ray");
const COMMENT = 0xfe;
const PEOPLE = 30;
const PHOTOS_OF_PERSON = 4;
const COUNT = PEOPLE * PHOTOS_OF_PERSON;
/** Photos that are added later. */
const ADDED = 15;
const TOTAL = COUNT + ADDED;
/** Every so many photos, one is cut off. */
const BROKEN = 20;
const LIMITS = ["--batch", "10", "--streams", "2", "--in-flight", "4"];

/** A row of the results; every command has these columns. */
interface Row {
  readonly path: string;
  readonly error: string | null;
  readonly faces?: readonly { readonly embedding: readonly number[] | null }[];
}

describe.runIf(wanted && process.platform === "linux")(
  "bulk jobs on Ray",
  { timeout: SDK_TIMEOUT_MS },
  () => {
    let service: RunningService;
    let client: VisageClient;
    let folder: string;
    let photos: string;
    let python: string;
    let portrait: Buffer;
    const running = new Set<ChildProcess>();

    beforeAll(async () => {
      service = await startTestService({ VISAGE_WORKERS: "2" });
      client = createVisageClient({ address: `http://127.0.0.1:${service.port}`, apiKey: USER });
      folder = mkdtempSync(join(tmpdir(), "ray-"));
      photos = join(folder, "photos");
      python = join(dirname(realpathSync(paths.ray)), "python");
      portrait = await smallPortrait();
      for (let number = 0; number < COUNT; number++) addPhoto(number);
      writeFileSync(join(photos, "person 0", "notes.txt"), "not a photo");
    }, SDK_TIMEOUT_MS);
    afterAll(async () => {
      for (const child of running) child.kill("SIGKILL");
      client.close();
      await service.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    });

    /** Adds a photo that no other photo equals. */
    function addPhoto(number: number): void {
      const person = join(photos, `person ${Math.floor(number / PHOTOS_OF_PERSON)}`);
      mkdirSync(person, { recursive: true });
      const photo = withSegments(portrait, jpegSegment(COMMENT, Buffer.from(`photo ${number}`)));
      writeFileSync(join(person, `${number}.jpg`), isBroken(number) ? photo.subarray(0, 300) : photo);
    }

    function start(args: readonly string[], key = USER) {
      const env = {
        ...PROGRAM_ENV,
        PYTHONPATH: join(PACKAGE_ROOT, "sdks/python/src"),
        RAY_TMPDIR: folder,
        VISAGE_KEY: key,
        VISAGE_URL: `http://127.0.0.1:${service.port}`,
      };
      const child = spawn(python, [join(EXAMPLE, "bulk.py"), ...args, ...LIMITS], { cwd: folder, env });
      running.add(child);
      let [output, errors] = ["", ""];
      child.stdout.on("data", (text) => (output += text));
      child.stderr.on("data", (text) => (errors += text));
      const end = once(child, "close").then(([code]) => {
        running.delete(child);
        return { code, output, errors };
      });
      return { child, end };
    }

    const run = (args: readonly string[], key?: string) => start(args, key).end;

    async function readRows(results: string): Promise<Row[]> {
      const program =
        "import json, sys, pyarrow.dataset as ds; print(json.dumps(ds.dataset(sys.argv[1]).to_table().to_pylist()))";
      return JSON.parse(await runProgram(folder, python, ["-c", program, results]));
    }

    /** Expects one row for each of the first photos, with an error for each broken one. */
    async function expectRows(results: string, count: number): Promise<readonly Row[]> {
      const rows = await readRows(results);
      const numbers = rows.map(({ path }) => Number(/^person \d+\/(\d+)\.jpg$/.exec(path)?.[1]));
      expect(numbers.toSorted((one, other) => one - other)).toEqual([...Array(count).keys()]);
      for (const [i, { error }] of rows.entries())
        expect(error).toBe(isBroken(numbers[i]!) ? "UNREADABLE_IMAGE" : null);
      return rows;
    }

    test("repeats the batch of a killed worker, and later does only what is new", async () => {
      const results = join(folder, "analysis");
      const args = ["analyse", photos, results, "--features", "embedding"];
      const { child, end } = start(args);
      await expect.poll(() => countFiles(results), { timeout: SDK_TIMEOUT_MS }).toBeGreaterThan(1);
      await expect.poll(() => findWorkers(child.pid!).slice(0, 1).map(kill)).toEqual([true]);
      expect(countFiles(results)).toBeLessThan(COUNT / 10 - 2);
      const { code, output, errors } = await end;
      expect(output, errors).toContain(`${COUNT} photos: 0 done before, ${COUNT} now`);
      expect(output).toContain(`0 left; failed: ${countBroken(COUNT)} UNREADABLE_IMAGE`);
      expect(code).toBe(1);
      for (const { error, faces } of await expectRows(results, COUNT))
        if (error === null) expect(faces![0]!.embedding).toHaveLength(128);

      for (let number = COUNT; number < TOTAL; number++) addPhoto(number);
      const before = snapshot(results);
      expect((await run(args)).output).toContain(`${TOTAL} photos: ${COUNT} done before, ${ADDED} now`);
      await expectRows(results, TOTAL);
      expect(snapshot(results)).toMatchObject(before);
      expect((await run(["analyse", photos, results])).errors).toContain("has the results of another job");
    });

    test("continues an enrolment that was killed", async () => {
      const results = join(folder, "enrolment");
      await client.galleries.create("bulk");
      const args = ["enrol", photos, results, "--gallery", "bulk", "--skip-person-check"];
      const { child, end } = start(args);
      await expect.poll(() => countFiles(results), { timeout: SDK_TIMEOUT_MS }).toBeGreaterThan(3);
      child.kill("SIGKILL");
      await end;
      const before = countFiles(results);
      const total = readdirSync(photos, { recursive: true, encoding: "utf8" }).filter((name) =>
        name.endsWith(".jpg"),
      );
      const { output, errors, code } = await run(args);
      expect(output, errors).toMatch(/^\d+ photos: [1-9]\d* done before, [1-9]\d* now .* 0 left; failed: /m);
      expect(code).toBe(1);
      expect(countFiles(results)).toBeGreaterThan(before);
      await expectRows(results, total.length);

      const enrolled: string[] = [];
      for await (const { displayName, faces } of client.galleries.listPeople("bulk"))
        enrolled.push(...faces.map(({ faceId }) => `${displayName}: ${faceId}`));
      const expected = total.flatMap((path) => {
        const bytes = readFileSync(join(photos, path));
        const faceId = createHash("sha256").update(bytes).digest("hex").slice(0, 32);
        return bytes.length > 300 ? [`${dirname(path)}: ${faceId}`] : [];
      });
      expect(enrolled.toSorted()).toEqual(expected.toSorted());
    });

    test("keeps the API key out of the logs of Ray", () => {
      const files = readdirSync(join(folder, "ray"), { recursive: true, withFileTypes: true });
      const logs = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
      expect(logs.length).toBeGreaterThan(10);
      expect(logs.filter((path) => readFileSync(path).includes(USER))).toEqual([]);
    });

    test("stops at once with a wrong key, without results", async () => {
      const results = join(folder, "nothing");
      const { code, output, errors } = await run(["analyse", photos, results], "key-of-nobody-0123456789");
      expect(output).toBe("");
      expect(errors).toMatch(/^bulk\.py: UNKNOWN_USER: /m);
      expect(code).toBe(1);
      expect(countFiles(results)).toBe(0);
    });

    test("has types that pass mypy --strict", async () => {
      await installGenerators("python");
      const files = ["bulk.py", "batch.py"].map((name) => join(EXAMPLE, name));
      const mypy = ["-m", "mypy", "--cache-dir", join(folder, "mypy"), "--ignore-missing-imports"];
      // Its folder has the settings of mypy.
      await runProgram(join(PACKAGE_ROOT, "sdks/python"), SDK_PYTHON, [...mypy, ...files]);
    });
  },
);

function countBroken(count: number): number {
  return [...Array(count).keys()].filter(isBroken).length;
}

function isBroken(number: number): boolean {
  return number % BROKEN === 7;
}

function countFiles(results: string): number {
  return Object.keys(snapshot(results)).length;
}

/** The Parquet files of a folder with their digests. */
function snapshot(results: string): Readonly<Record<string, string>> {
  try {
    const names = readdirSync(results).filter((name) => name.endsWith(".parquet"));
    const digest = (name: string) =>
      createHash("sha256")
        .update(readFileSync(join(results, name)))
        .digest("hex");
    return Object.fromEntries(names.map((name) => [name, digest(name)]));
  } catch {
    return {};
  }
}

/** The processes of a driver's Ray that run a batch. */
function findWorkers(driver: number): number[] {
  const read = (pid: number | string, name: string) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, "utf8");
    } catch {
      return "";
    }
  };
  const parent = (pid: number | string) => Number(/\) \S (\d+)/.exec(read(pid, "stat"))?.[1] ?? 0);
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  // Their parent is the raylet, a child of the driver.
  return pids.filter(
    (pid) => read(pid, "cmdline").startsWith("ray::MapBatches") && parent(parent(pid)) === driver,
  );
}

function kill(pid: number): boolean {
  return process.kill(pid, "SIGKILL");
}
