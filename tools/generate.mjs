// Generates gen/ts and gen/descriptors.binpb from the protos, below the given folder (default: the checkout).
import { execFileSync } from "node:child_process";
import { join } from "node:path";

const [folder = "."] = process.argv.slice(2);
/** What the descriptor set describes, with everything that it imports. */
const SERVICES = ["proto/face", "proto/visage", "proto/grpc/health"];

buf("generate", "--template", "proto/buf.gen.yaml", "--output", folder);
buf(
  "build",
  ...SERVICES.flatMap((path) => ["--path", path]),
  "--as-file-descriptor-set",
  "--exclude-source-info",
  "--output",
  join(folder, "gen/descriptors.binpb"),
);

function buf(...args) {
  execFileSync("buf", args, { stdio: "inherit", shell: process.platform === "win32" });
}
