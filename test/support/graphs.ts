// Builders of small ONNX graphs.
import { create } from "@bufbuild/protobuf";
import { type Attribute, AttributeSchema, AttributeType } from "../../gen/ts/onnx/v1/onnx_pb.ts";
import {
  createGraph,
  createNode,
  floatTensor,
  floatValue,
  type Graph,
  type Node,
  type Tensor,
} from "../../tools/models/onnx.ts";
import { randomFloats } from "./numbers.ts";

/** Nodes and the weights that they read. */
export interface Part {
  readonly nodes: Node[];
  readonly weights: Tensor[];
}

/** Builds a graph from parts in order. Its input is `data`, a batch of the given shape. */
export function buildGraph(
  shape: readonly number[],
  parts: readonly Part[],
  outputs: readonly string[] = ["y"],
): Graph {
  const graph = createGraph("small", ["N", ...shape]);
  graph.input[0]!.name = "data";
  graph.node = parts.flatMap(({ nodes }) => nodes);
  graph.initializer = parts.flatMap(({ weights }) => weights);
  graph.output = outputs.map((name) => floatValue(name));
  return graph;
}

/** A 2 by 2 convolution of an image of three channels. */
export function conv(x: string, y: string, channels: number, hasBias: boolean): Part {
  const weights = [weight(`${y}/w`, [channels, 3, 2, 2]), ...(hasBias ? [weight(`${y}/b`, [channels])] : [])];
  return { nodes: [createNode("Conv", [x, ...weights.map(({ name }) => name)], y)], weights };
}

/** A 2 by 2 depthwise convolution from three channels to six. */
export function depthwise(x: string, y: string): Part {
  return {
    nodes: [createNode("Conv", [x, `${y}/w`], y, { group: 3 })],
    weights: [weight(`${y}/w`, [6, 1, 2, 2])],
  };
}

/** A 1 by 1 convolution. */
export function pointwise(x: string, y: string, channels: number, from = 3): Part {
  return {
    nodes: [createNode("Conv", [x, `${y}/w`], y)],
    weights: [weight(`${y}/w`, [channels, from, 1, 1])],
  };
}

/** A 2 by 2 max pooling with stride 2. */
export function pool(x: string, y: string): Part {
  return { nodes: [createNode("MaxPool", [x], y, { kernel_shape: [2, 2], strides: [2, 2] })], weights: [] };
}

/** The sum of two values, as the output `y`. */
export function add(one: string, other: string): Part {
  return { nodes: [createNode("Add", [one, other], "y")], weights: [] };
}

/** A PRelu with random slopes up to `highest`. */
export function prelu(x: string, y: string, dims: readonly number[], highest: number): Part {
  return {
    nodes: [createNode("PRelu", [x, `${y}/a`], y)],
    weights: [weight(`${y}/a`, dims, highest - 1.5, highest)],
  };
}

/** A Gemm with transposed weights: one row per output. */
export function gemm(x: string, y: string, inputs: number, outputs: number, hasBias = true): Part {
  const weights = [weight(`${y}/w`, [outputs, inputs]), ...(hasBias ? [weight(`${y}/b`, [outputs])] : [])];
  return { nodes: [createNode("Gemm", [x, ...weights.map(({ name }) => name)], y, { transB: 1 })], weights };
}

/** Flattens an image to one row. */
export function flatten(x: string, y: string): Part {
  return { nodes: [createNode("Flatten", [x], y)], weights: [] };
}

/** A batch normalization with an epsilon so large that the default would give other results. */
export function norm(x: string, y: string, channels: number): Part {
  const weights = [
    ...["gamma", "beta", "mean"].map((name) => weight(`${y}/${name}`, [channels])),
    weight(`${y}/variance`, [channels], 0.1, 2),
  ];
  const node = createNode("BatchNormalization", [x, ...weights.map(({ name }) => name)], y);
  node.attribute.push(floatAttribute("epsilon", 0.01));
  return { nodes: [node], weights };
}

/** A float attribute, which `createNode` does not support. */
export function floatAttribute(name: string, f: number): Attribute {
  return create(AttributeSchema, { name, f, type: AttributeType.FLOAT });
}

/** A weight tensor of pseudo-random numbers, seeded by its name. */
export function weight(name: string, dims: readonly number[], low = -1.5, high = 1.5): Tensor {
  const length = dims.reduce((product, size) => product * size, 1);
  const seed = [...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), length);
  return floatTensor(name, dims, randomFloats(length, low, high, seed));
}
