// `npm run licences`: lists the production dependencies and networks with their licences, for all platforms. Fails if a
// licence is not known to be compatible with Apache-2.0.
import { readFileSync } from "node:fs";

const ACCEPTED = [
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
];
/** These packages contain libvips. It is linked dynamically and unmodified, which the LGPL permits. */
const LIBVIPS = /^@img\/sharp-(libvips-|win32-|wasm32$)/;

const components = [...readPackages(), ...readNetworks()];
const widest = (key) => Math.max(...components.map((component) => component[key].length));
for (const { name, version, licence, note = "" } of components)
  console.log(
    `${name.padEnd(widest("name"))}  ${version.padEnd(widest("version"))}  ${licence} ${note}`.trimEnd(),
  );
for (const { name, licence } of components.filter((component) => !isAccepted(component))) {
  console.error(`licences: ${name} is under ${licence}, which is not accepted`);
  process.exitCode = 1;
}

/** All packages of a production install. */
function readPackages() {
  const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
  return Object.entries(lock.packages)
    .filter(([path, { dev }]) => path && !dev)
    .map(([path, { version, license = "none" }]) => ({
      name: path.split("node_modules/").at(-1),
      version,
      licence: license.replaceAll(/[()]/g, ""),
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

function readNetworks() {
  return Object.entries(JSON.parse(readFileSync("models/manifest.json", "utf8"))).map(([key, network]) => {
    const [licence] = network.licence.split(/[ ;]/);
    return {
      name: `network ${key}`,
      version: network.source,
      licence,
      note: `(${network.title})`,
    };
  });
}

/** Of OR alternatives one must be accepted; of AND terms all must. */
function isAccepted({ name, licence }) {
  const accepted = LIBVIPS.test(name) ? [...ACCEPTED, "LGPL-3.0-or-later"] : ACCEPTED;
  return licence
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((term) => accepted.includes(term)));
}
