// The parts of small hand-made ONNX graphs.
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

/** Some nodes with the weights that they read. */
export interface Part {
  readonly nodes: Node[];
  readonly weights: Tensor[];
}

/** A graph that reads `data`, a batch of the given shape, and computes the parts one after the other. */
export function graphOf(
  shape: readonly number[],
  parts: readonly Part[],
  outputs: readonly string[] = ["y"],
): Graph {
  const graph = createGraph("small", [null, ...shape]);
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

/** A 2 by 2 convolution that makes two channels of each of three. */
export function depthwise(x: string, y: string): Part {
  return {
    nodes: [createNode("Conv", [x, `${y}/w`], y, { group: 3 })],
    weights: [weight(`${y}/w`, [6, 1, 2, 2])],
  };
}

/** A convolution of single pixels. */
export function pointwise(x: string, y: string, channels: number, from = 3): Part {
  return {
    nodes: [createNode("Conv", [x, `${y}/w`], y)],
    weights: [weight(`${y}/w`, [channels, from, 1, 1])],
  };
}

/** The largest of each 2 by 2 pixels. */
export function pool(x: string, y: string): Part {
  return { nodes: [createNode("MaxPool", [x], y, { kernel_shape: [2, 2], strides: [2, 2] })], weights: [] };
}

/** The sum of two values, as the output `y`. */
export function add(one: string, other: string): Part {
  return { nodes: [createNode("Add", [one, other], "y")], weights: [] };
}

/** A prelu with random slopes up to a highest one. */
export function prelu(x: string, y: string, dims: readonly number[], highest: number): Part {
  return {
    nodes: [createNode("PRelu", [x, `${y}/a`], y)],
    weights: [weight(`${y}/a`, dims, highest - 1.5, highest)],
  };
}

/** A matrix product with a row of weights for each output. */
export function gemm(x: string, y: string, inputs: number, outputs: number, hasBias = true): Part {
  const weights = [weight(`${y}/w`, [outputs, inputs]), ...(hasBias ? [weight(`${y}/b`, [outputs])] : [])];
  return { nodes: [createNode("Gemm", [x, ...weights.map(({ name }) => name)], y, { transB: 1 })], weights };
}

/** All numbers of an image in one row. */
export function flatten(x: string, y: string): Part {
  return { nodes: [createNode("Flatten", [x], y)], weights: [] };
}

/** A batch norm with an epsilon of its own, so large that the usual one would show. */
export function norm(x: string, y: string, channels: number): Part {
  const weights = [
    ...["gamma", "beta", "mean"].map((name) => weight(`${y}/${name}`, [channels])),
    weight(`${y}/variance`, [channels], 0.1, 2),
  ];
  const node = createNode("BatchNormalization", [x, ...weights.map(({ name }) => name)], y);
  node.attribute.push(floatAttribute("epsilon", 0.01));
  return { nodes: [node], weights };
}

/** A setting of a node as a float, which `createNode` does not write. */
export function floatAttribute(name: string, f: number): Attribute {
  return create(AttributeSchema, { name, f, type: AttributeType.FLOAT });
}

/** A constant of random numbers, the same for the same name. */
export function weight(name: string, dims: readonly number[], low = -1.5, high = 1.5): Tensor {
  const length = dims.reduce((product, size) => product * size, 1);
  const seed = [...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), length);
  return floatTensor(name, dims, randomFloats(length, low, high, seed));
}
