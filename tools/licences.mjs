// `npm run licences`: what the program is made of, a line each with its licence, for every platform. Fails where
// a licence is not among those that go together with Apache-2.0.
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
/** Holds libvips, which is linked when the program runs, unchanged and replaceable, as the LGPL wants it. */
const LIBVIPS = /^@img\/sharp-(libvips-|win32-|wasm32$)/;

const parts = [...packages(), ...networks()];
const widest = (key) => Math.max(...parts.map((part) => part[key].length));
for (const { name, version, licence, note = "" } of parts)
  console.log(
    `${name.padEnd(widest("name"))}  ${version.padEnd(widest("version"))}  ${licence} ${note}`.trimEnd(),
  );
for (const { name, licence } of parts.filter((part) => !isAccepted(part))) {
  console.error(`licences: ${name} is under ${licence}, which is not accepted`);
  process.exitCode = 1;
}

/** Everything that a production install may bring. */
function packages() {
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

function networks() {
  return Object.entries(JSON.parse(readFileSync("models/manifest.json", "utf8"))).map(([key, network]) => {
    const [licence] = network.licence.split(/[ ;]/);
    return {
      name: `network ${key}`,
      version: network.source.package ?? "ours",
      licence,
      note: `(${network.title})`,
    };
  });
}

/** Of alternatives one must do; of what applies together, all must. */
function isAccepted({ name, licence }) {
  const accepted = LIBVIPS.test(name) ? [...ACCEPTED, "LGPL-3.0-or-later"] : ACCEPTED;
  return licence
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((term) => accepted.includes(term)));
}
