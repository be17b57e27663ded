// tfjs on its plain JavaScript backend. Production mode keeps the praise of its other backends off the console.
import "@tensorflow/tfjs-backend-cpu";
import { type GraphModel, loadGraphModel } from "@tensorflow/tfjs-converter";
import { enableProdMode, type io } from "@tensorflow/tfjs-core";

enableProdMode();

/** Opens a published graph model in tfjs: its JSON and its weights. */
export async function openGraphModel(json: Uint8Array, weights: Uint8Array): Promise<GraphModel> {
  const { modelTopology, weightsManifest } = JSON.parse(new TextDecoder().decode(json)) as io.ModelJSON;
  const weightSpecs = weightsManifest.flatMap((group) => group.weights);
  const weightData = Uint8Array.from(weights).buffer;
  return loadGraphModel({ load: async () => ({ modelTopology, weightSpecs, weightData }) });
}
