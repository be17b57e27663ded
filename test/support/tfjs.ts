// tfjs with its CPU backend. Production mode suppresses its advice to use other backends.
import "@tensorflow/tfjs-backend-cpu";
import { type GraphModel, loadGraphModel } from "@tensorflow/tfjs-converter";
import { enableProdMode, type io } from "@tensorflow/tfjs-core";

enableProdMode();

/** Loads a graph model from its JSON file and its weights file. */
export async function openGraphModel(json: Uint8Array, weights: Uint8Array): Promise<GraphModel> {
  const { modelTopology, weightsManifest } = JSON.parse(new TextDecoder().decode(json)) as io.ModelJSON;
  const weightSpecs = weightsManifest.flatMap((group) => group.weights);
  const weightData = Uint8Array.from(weights).buffer;
  return loadGraphModel({ load: async () => ({ modelTopology, weightSpecs, weightData }) });
}
