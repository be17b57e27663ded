// Compiles the WebAssembly kernels: the AssemblyScript in `assembly/` of each folder below. The result is a module
// `kernels.wasm.js` beside `assembly/` that embeds the WebAssembly as Base64, so that Node and browsers load it alike.
// The build and the tests call this. Kernels that are up to date are not compiled again.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const KERNEL_FOLDERS = ["src/core/crop", "src/search"];

const ROOT = join(import.meta.dirname, "..");

const COMPILER_OPTIONS = [
  ...["--optimizeLevel", "3", "--shrinkLevel", "0", "--noAssert"],
  ...["--enable", "simd", "--runtime", "stub", "--importMemory", "--noExportMemory"],
  // A v128 in an exported function, which JavaScript could not call. Only the exports of index.ts are for JavaScript.
  ...["--disableWarning", "112"],
];

/** Compiles the kernels whose sources have changed. Throws if the compiler is missing or reports an error. */
export async function compileKernels() {
  for (const folder of KERNEL_FOLDERS) {
    const file = join(ROOT, folder, "kernels.wasm.js");
    const header = `// Compiled from assembly/ by tools/kernels.mjs. Do not edit. Digest of the sources: ${digestOf(folder)}\n`;
    if (existsSync(file) && readFileSync(file, "utf8").startsWith(header)) continue;
    const content = header + moduleOf(await compile(`${folder}/assembly/index.ts`));
    // Written whole or not at all: a test run may read it meanwhile.
    writeFileSync(`${file}.${process.pid}`, content);
    renameSync(`${file}.${process.pid}`, file);
  }
}

/** SHA-256 of everything that the result depends on: the sources, the compiler's version and this file. */
function digestOf(folder) {
  const assembly = join(ROOT, folder, "assembly");
  const sources = readdirSync(assembly).sort();
  const digest = createHash("sha256").update(readFileSync(import.meta.filename));
  digest.update(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).devDependencies.assemblyscript);
  for (const name of sources) digest.update(name).update(readFileSync(join(assembly, name)));
  return digest.digest("hex");
}

async function compile(entry) {
  const { main } = await import("assemblyscript/asc").catch(() => {
    throw new Error('The AssemblyScript compiler is not installed. Run "npm install".');
  });
  let wasm;
  const { error, stderr } = await main(
    [entry, "--baseDir", ROOT, "--outFile", "out.wasm", ...COMPILER_OPTIONS],
    {
      writeFile: (_name, content) => {
        wasm = content;
      },
    },
  );
  process.stderr.write(stderr.toString());
  if (error) throw new Error(`${entry} does not compile.`, { cause: error });
  return wasm;
}

function moduleOf(wasm) {
  return `const module = new WebAssembly.Module(
  Uint8Array.from(atob("${Buffer.from(wasm).toString("base64")}"), (char) => char.charCodeAt(0)),
);

export function instantiate(bytes) {
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / 65536) });
  return { memory, ...new WebAssembly.Instance(module, { env: { memory } }).exports };
}
`;
}
