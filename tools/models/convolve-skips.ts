import { createNode, dimsOf, floatTensor, type Graph, intsOf, type Node, type Tensor } from "./onnx.ts";

/** onnxruntime hands images from convolution to convolution in blocks of so many channels. */
const BLOCK = 16;

/** Where the padding at the end of the channels stands among the pads of an image. */
const CHANNELS_AFTER = 5;

/**
 * Where a residual block adds its pooled input to its result, makes the former come out of a convolution too, one
 * that changes nothing: in place of the padding with empty channels, or after the pooling of channels that fill no
 * whole block. Otherwise onnxruntime turns the layout of every image from there on back and forth, block by block.
 */
export function convolveSkips(graph: Graph): void {
  const weights = new Map(graph.initializer.map((tensor) => [tensor.name, tensor]));
  const makers = new Map(graph.node.map((node) => [node.output[0]!, node]));
  for (const sum of graph.node.filter(({ opType }) => opType === "Add")) {
    const makersOfSum = sum.input.map((name) => makers.get(name));
    const conv = makersOfSum.find((maker) => maker?.opType === "Conv");
    const skip = makersOfSum.find((maker) => maker?.opType === "MaxPool" || maker?.opType === "Pad");
    if (!conv || !skip) continue;
    const [channels = 0] = dimsOf(weights.get(conv.input[1]!)!);
    if (skip.opType === "Pad") replacePad(graph, skip, channels, weights);
    else if (channels % BLOCK !== 0) followPool(graph, sum, skip, channels);
  }
}

function replacePad(graph: Graph, pad: Node, channels: number, weights: ReadonlyMap<string, Tensor>): void {
  const pads = intsOf(weights.get(pad.input[1]!)!);
  const added = pads[CHANNELS_AFTER]!;
  if (pads.some((size, i) => size !== 0 && i !== CHANNELS_AFTER))
    throw new Error(`${graph.name}: ${pad.output[0]} pads more than channels`);
  const copy = copyChannels(graph, pad.input[0]!, pad.output[0]!, channels - added, channels);
  graph.node = graph.node.map((node) => (node === pad ? copy : node));
}

function followPool(graph: Graph, sum: Node, pool: Node, channels: number): void {
  const [pooled = ""] = pool.output;
  const copy = copyChannels(graph, pooled, `${pooled}/copy`, channels, channels);
  sum.input = sum.input.map((name) => (name === pooled ? `${pooled}/copy` : name));
  graph.node = graph.node.flatMap((node) => (node === pool ? [pool, copy] : [node]));
}

/** A convolution that copies channels, and leaves the ones after them empty. */
function copyChannels(graph: Graph, x: string, y: string, from: number, to: number): Node {
  const ones = Float32Array.from({ length: to * from }, (_, i) =>
    i % from === Math.floor(i / from) ? 1 : 0,
  );
  graph.initializer.push(floatTensor(`${y}/ones`, [to, from, 1, 1], ones));
  return createNode("Conv", [x, `${y}/ones`], y, { kernel_shape: [1, 1] });
}
