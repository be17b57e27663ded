import { type Graph, readOnnx, writeOnnx } from "./onnx.ts";
import { optimise } from "./optimise.ts";
import { readTfjsGraph } from "./read-tfjs.ts";
import type { Source } from "./sources.ts";
import { storeHalf } from "./store-half.ts";

/**
 * Converts the published files of a network, in the order of its source, to the ONNX file that the core runs. The
 * same files always give the same bytes.
 */
export function convert(name: string, source: Source, files: readonly Uint8Array[]): Uint8Array {
  const graph = readGraph(name, source, files);
  graph.name = name;
  const optimised = optimise(graph, source);
  return writeOnnx(source.storesHalf ? storeHalf(optimised) : optimised);
}

function readGraph(name: string, { format }: Source, [first, second]: readonly Uint8Array[]): Graph {
  if (!first) throw new Error(`${name}: the source has no file`);
  if (format === "onnx") return readOnnx(first);
  if (!second) throw new Error(`${name}: a tfjs network needs its JSON file and its weights`);
  return readTfjsGraph(name, new TextDecoder().decode(first), second);
}
