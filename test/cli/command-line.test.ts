import { expect, test } from "vitest";
import { runInProcess } from "../support/command-line.ts";

test.each<[string[], RegExp]>([
  [[], /^Usage: visage COMMAND\n[\s\S]*\n {2}analyze +find/],
  [["help"], /^Usage: visage COMMAND\n/],
  [["--help"], /^Usage: visage COMMAND\n/],
  [["-h"], /^Usage: visage COMMAND\n/],
  [["analyze", "--help"], /^Usage: visage analyze PHOTO\.\.\. /],
  [["analyze", "-h"], /^Usage: visage analyze PHOTO\.\.\. /],
  [["help", "analyze"], /^Usage: visage analyze PHOTO\.\.\. /],
  [["help", "serve"], /^Usage: visage serve\n/],
  [["galleries", "--help"], /^Usage: visage galleries create ID /],
  ...["create", "list", "show", "enrol", "identify", "export", "import", "delete"].flatMap(
    (name): [string[], RegExp][] => [
      [["galleries", name, "--help"], new RegExp(`^Usage: visage galleries ${name} `)],
      [["help", "galleries", name], new RegExp(`^Usage: visage galleries ${name} `)],
    ],
  ),
  [["--version"], /^\d+\.\d+\.\d+\n$/],
  [["-v"], /^\d+\.\d+\.\d+\n$/],
])("%j prints to stdout", async (args, output) => {
  const { code, stdout, stderr } = await runInProcess(args);
  expect(stdout).toMatch(output);
  expect([code, stderr]).toEqual([0, ""]);
  expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(110);
});

test.each([
  [["paint"], `Unknown command 'paint'; see "visage --help"`],
  [["constructor"], `Unknown command 'constructor'; see "visage --help"`],
  [["--paint"], `Unknown option '--paint'; see "visage --help"`],
  [["--"], `The command is missing; see "visage --help"`],
  [["--", "users"], `Unknown command 'users'; see "visage --help"`],
  [["help", "paint"], `Unknown command 'paint'; see "visage --help"`],
  [["help", "users", "plans"], `Unexpected argument 'plans'; see "visage --help"`],
  [["help", "galleries", "paint"], `Unexpected argument 'paint'; see "visage --help"`],
  [
    ["galleries"],
    `The subcommand is missing; use one of create, list, show, enrol, identify, export, import, migrate, alias, delete, person, reindex; see "visage galleries --help"`,
  ],
  [["galleries", "list"], `Option '--key' or VISAGE_KEY is required; see "visage galleries --help"`],
  [["galleries", "enrol", "a"], `The argument FOLDER is missing; see "visage galleries --help"`],
  [["galleries", "identify", "a"], `The argument PHOTO is missing; see "visage galleries --help"`],
  [
    ["galleries", "delete", "a"],
    `Option '--yes' is required without a terminal; see "visage galleries --help"`,
  ],
  [
    ["galleries", "export", "a", "--force"],
    `Option '--force' requires '--output'; see "visage galleries --help"`,
  ],
  [
    ["galleries", "create", "a", "--max-distance", "-1"],
    `Option '--max-distance' must be a positive number, not '-1'; see "visage galleries --help"`,
  ],
  [
    ["galleries", "list", "--server", "localhost"],
    `Option '--server' must be a URL such as http://localhost:8080, not 'localhost'; see "visage galleries --help"`,
  ],
  [["serve", "now"], `Unexpected argument 'now'; see "visage serve --help"`],
  [["analyze"], `The argument PHOTO is missing; see "visage analyze --help"`],
  [["analyze", "a.jpg", "--paint"], `Unknown option '--paint'; see "visage analyze --help"`],
  [["analyze", "a.jpg", "--draw"], `Option '--draw' requires a value; see "visage analyze --help"`],
  [["analyze", "a.jpg", "--draw", "--json"], `Option '--draw' requires a value; see "visage analyze --help"`],
  [
    ["analyze", "a.jpg", "--json=yes"],
    `Option '--json' does not take an argument; see "visage analyze --help"`,
  ],
])("%j is a usage error", async (args, reason) => {
  expect(await runInProcess(args)).toEqual({ code: 2, stdout: "", stderr: `visage: ${reason}\n` });
});

test("an invalid setting is an error, not a usage error", async () => {
  const env = { VISAGE_PORT: "http", VISAGE_WORKERS: "0", VISAGE_TLS_CERT: "only.pem" };
  const { code, stderr } = await runInProcess(["serve"], env);
  expect(code).toBe(1);
  expect(stderr).toContain("VISAGE_PORT must be an integer");
  expect(stderr).toContain("VISAGE_WORKERS must be an integer");
  expect(stderr).toContain("VISAGE_TLS_CERT and VISAGE_TLS_KEY must be set together");
});
