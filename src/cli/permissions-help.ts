import { PERMISSION_NAMES, PERMISSIONS } from "../permissions.ts";

const GALLERIES = "identify, read, enrol, export and delete";

/** The column after the longest name. */
const WIDTH = 2 + Math.max(...PERMISSION_NAMES.map(({ length }) => length));

/** The part of a help text that explains LIST. */
export const PERMISSIONS_HELP = [
  "LIST has permissions, separated by commas:\n",
  ...PERMISSION_NAMES.map((name) => `  ${name.padEnd(WIDTH)}${PERMISSIONS[name].meaning}`),
  `  ${"galleries".padEnd(WIDTH)}${GALLERIES}`,
].join("\n");
