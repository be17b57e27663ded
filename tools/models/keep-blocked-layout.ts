import { createNode, dimsOf, floatTensor, type Graph, intsOf, type Node, type Tensor } from "./onnx.ts";

/** onnxruntime runs convolutions in a blocked layout (NCHWc) with this many channels per block. */
const BLOCK_CHANNELS = 16;

/** The index of the padding after the channels in the `pads` of an NCHW tensor. */
const CHANNEL_PADDING_INDEX = 5;

/**
 * Keeps the sums of residual blocks in the blocked layout of convolutions. It inserts an identity convolution (1x1)
 * into the skip connection: in place of a Pad node that adds channels, or after a MaxPool node whose channels do not
 * fill whole blocks. Without it, onnxruntime reorders the tensors of every following block from one layout to the other
 * and back.
 */
export function keepBlockedLayout(graph: Graph): void {
  const initializers = new Map(graph.initializer.map((tensor) => [tensor.name, tensor]));
  const producers = new Map(graph.node.map((node) => [node.output[0]!, node]));
  for (const sum of graph.node.filter(({ opType }) => opType === "Add")) {
    const operands = sum.input.map((name) => producers.get(name));
    const conv = operands.find((node) => node?.opType === "Conv");
    const skip = operands.find((node) => node?.opType === "MaxPool" || node?.opType === "Pad");
    if (!conv || !skip) continue;
    const [channels = 0] = dimsOf(initializers.get(conv.input[1]!)!);
    if (skip.opType === "Pad") replacePad(graph, skip, channels, initializers);
    else if (channels % BLOCK_CHANNELS !== 0) insertAfterPool(graph, sum, skip, channels);
  }
}

function replacePad(
  graph: Graph,
  pad: Node,
  channels: number,
  initializers: ReadonlyMap<string, Tensor>,
): void {
  const pads = intsOf(initializers.get(pad.input[1]!)!);
  const added = pads[CHANNEL_PADDING_INDEX]!;
  if (pads.some((size, i) => size !== 0 && i !== CHANNEL_PADDING_INDEX))
    throw new Error(`${graph.name}: ${pad.output[0]} pads more than channels`);
  const identity = createIdentityConv(graph, pad.input[0]!, pad.output[0]!, channels - added, channels);
  graph.node = graph.node.map((node) => (node === pad ? identity : node));
}

function insertAfterPool(graph: Graph, sum: Node, pool: Node, channels: number): void {
  const [pooled = ""] = pool.output;
  const identity = createIdentityConv(graph, pooled, `${pooled}/copy`, channels, channels);
  sum.input = sum.input.map((name) => (name === pooled ? `${pooled}/copy` : name));
  graph.node = graph.node.flatMap((node) => (node === pool ? [pool, identity] : [node]));
}

/** A 1x1 convolution that copies the input channels and sets additional output channels to 0. */
function createIdentityConv(graph: Graph, x: string, y: string, inputs: number, outputs: number): Node {
  const weights = Float32Array.from({ length: outputs * inputs }, (_, i) =>
    i % inputs === Math.floor(i / inputs) ? 1 : 0,
  );
  graph.initializer.push(floatTensor(`${y}/ones`, [outputs, inputs, 1, 1], weights));
  return createNode("Conv", [x, `${y}/ones`], y, { kernel_shape: [1, 1] });
}
