// The preinstall script of the published package. It keeps onnxruntime-node from downloading CUDA libraries of several
// hundred megabytes, which Visage does not use. Without it, an installation without internet access fails.
//
// onnxruntime-node downloads the libraries in its postinstall script unless the files exist. npm runs the preinstall
// scripts of all packages before any postinstall script, so this script creates the files, empty. The CPU provider
// never opens them. ONNXRUNTIME_NODE_INSTALL=cuda12 still installs the real ones.
//
// A checkout does not need this script: package.json (allowScripts) and package-lock.json disable the download there.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const { npm_package_json: manifest = "", npm_config_local_prefix: project } = process.env;
if (dirname(manifest) !== project) {
  try {
    createEmptyLibraries();
  } catch (error) {
    // The installation itself still works where the download does.
    console.warn(`visage: the CUDA download of onnxruntime-node is not disabled (${error.message})`);
  }
}

function createEmptyLibraries() {
  const require = createRequire(import.meta.url);
  const root = dirname(require.resolve("onnxruntime-node/package.json"));
  const { requirements, manifests } = require("onnxruntime-node/script/install-metadata.js");
  const platform = `${process.platform}/${process.arch}`;
  // Append mode keeps an existing file as it is.
  for (const requirement of requirements[platform] ?? [])
    for (const file of Object.keys(manifests[`${platform}:${requirement}`]))
      writeFileSync(join(root, "bin/napi-v6", platform, file), "", { flag: "a" });
}
