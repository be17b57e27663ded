import type { Analyzer, AnalyzerOptions } from "./analyzer.ts";

/** Loads the networks. Open one analyzer and keep it: loading takes a second and onnxruntime leaks on each. */
export async function openAnalyzer({ modelsDir, digests, limits }: AnalyzerOptions): Promise<Analyzer> {
  // Not imported above: where a pool does the work, native code would take time and memory for nothing.
  const { analyzerFromNetworks } = await import("./analyzer.ts");
  const { openNetworks } = await import("./networks.ts");
  return analyzerFromNetworks(await openNetworks(modelsDir, digests), limits);
}
