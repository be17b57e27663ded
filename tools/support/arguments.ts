import { statSync } from "node:fs";
import { parseArgs } from "node:util";

/** The folder that `--data` names; says how to use the command and ends it where there is none. */
export function dataDirFromArguments(): string {
  const { values } = parseArgs({ options: { data: { type: "string" } } });
  const isFolder =
    values.data !== undefined && statSync(values.data, { throwIfNoEntry: false })?.isDirectory();
  if (values.data !== undefined && isFolder) return values.data;
  console.error(
    values.data === undefined
      ? "Name the folder of labelled photographs: --data DIR (its layout: bench/README.md)."
      : `${values.data} is not a folder.`,
  );
  process.exit(1);
}
