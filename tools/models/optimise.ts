import { keepBlockedLayout } from "./keep-blocked-layout.ts";
import {
  attributeOf,
  createNode,
  DataType,
  dimsOf,
  floatsOf,
  floatTensor,
  floatValue,
  type Graph,
  type Node,
  type Tensor,
} from "./onnx.ts";
import { replacePRelus } from "./replace-prelus.ts";

/** How the values of a graph are called outside: the one input, and each output with what it joins. */
export interface Names {
  readonly input: string;
  /** Output name to the inner values that are joined, in order, along the second axis. */
  readonly outputs: Readonly<Record<string, readonly string[]>>;
}

/**
 * Rewrites a graph into one that computes the same with less work. Every step is plain arithmetic
 * in a fixed order, so that the result has the same bytes on every machine.
 */
export function optimise(graph: Graph, names: Names): Graph {
  renameEnds(graph, names);
  liftConstants(graph);
  dropPassThroughs(graph);
  foldBatchNorms(graph);
  keepBlockedLayout(graph);
  replacePRelus(graph);
  prune(graph);
  return graph;
}

/** Names input and outputs, takes weights out of the inputs and leaves the batch open. */
function renameEnds(graph: Graph, { input, outputs }: Names): void {
  const weights = new Set(graph.initializer.map((tensor) => tensor.name));
  const [image] = graph.input.filter((value) => !weights.has(value.name));
  const shape = image?.type?.tensorType?.shape?.dim.map(({ size }) => Number(size.value)) ?? [];
  if (image?.name !== input) throw new Error(`${graph.name}: the input is ${image?.name}, not ${input}`);
  graph.input = [floatValue("input", [null, ...shape.slice(1)])];
  for (const node of graph.node) node.input = node.input.map((name) => (name === input ? "input" : name));
  graph.output = Object.entries(outputs).map(([output, parts]) => {
    const [only] = parts;
    graph.node.push(
      parts.length === 1
        ? createNode("Identity", [only!], output)
        : createNode("Concat", [...parts], output, { axis: 1 }),
    );
    return floatValue(output);
  });
  graph.valueInfo = [];
}

/** Turns Constant nodes, and casts of half precision weights, into plain float weights. */
function liftConstants(graph: Graph): void {
  const weights = weightsOf(graph);
  graph.node = graph.node.filter((node) => {
    const [output = ""] = node.output;
    if (node.opType === "Constant") {
      const tensor = attributeOf(node, "value")?.t;
      if (!tensor) throw new Error(`${graph.name}: constant ${output} holds no tensor`);
      tensor.name = output;
      graph.initializer.push(tensor);
      return false;
    }
    const half = node.opType === "Cast" ? weights.get(node.input[0]!) : undefined;
    if (half?.dataType !== DataType.FLOAT16) return true;
    graph.initializer.push(floatTensor(output, dimsOf(half), floatsOf(half)));
    return false;
  });
}

/** Removes what hands its input on unchanged when the network is not in training. */
function dropPassThroughs(graph: Graph): void {
  const outside = new Set(graph.output.map((value) => value.name));
  const source = new Map<string, string>();
  graph.node = graph.node.filter((node) => {
    node.input = node.input.map((name) => source.get(name) ?? name);
    if (!passesThrough(node) || outside.has(node.output[0]!)) return true;
    source.set(node.output[0]!, node.input[0]!);
    return false;
  });
  // An output that only renames a value is that value under another name.
  for (const node of graph.node.filter(passesThrough)) {
    const [inner, outer] = [node.input[0]!, node.output[0]!];
    const maker = graph.node.find(({ output }) => output[0] === inner);
    // A value that is an output already keeps that name, and its second name stays a node.
    if (!maker || (outside.has(inner) && inner !== outer)) continue;
    const rename = (name: string) => (name === inner ? outer : name);
    graph.node = graph.node.filter((other) => other !== node);
    for (const other of graph.node) {
      other.input = other.input.map(rename);
      other.output = other.output.map(rename);
    }
  }
}

function passesThrough({ opType }: Node): boolean {
  return opType === "Identity" || opType === "Dropout";
}

/** A batch norm as what it is when the network is not in training: y = scale x + shift, for each channel. */
interface Affine {
  readonly scale: Float64Array;
  readonly shift: Float64Array;
}

/** Moves each batch norm into the convolution or matrix product before it, or the matrix products after it. */
function foldBatchNorms(graph: Graph): void {
  const weights = weightsOf(graph);
  for (const norm of graph.node.filter(({ opType }) => opType === "BatchNormalization")) {
    const affine = affineOf(norm, weights);
    const maker = graph.node.find(({ output }) => output[0] === norm.input[0]);
    const readers = innerReaders(graph, norm.output[0]!);
    const [flatten] = readers;
    const isFlattened = readers.length === 1 && flatten!.opType === "Flatten";
    const products = isFlattened ? innerReaders(graph, flatten!.output[0]!) : readers;
    if (
      (maker?.opType === "Conv" || maker?.opType === "Gemm") &&
      innerReaders(graph, norm.input[0]!).length === 1
    ) {
      foldBackward(graph, maker, affine, weights);
      maker.output = norm.output;
    } else if (products.length && products.every(isGemm)) {
      for (const product of products) foldForward(graph, product, affine, weights);
      for (const reader of readers) reader.input[0] = norm.input[0]!;
    } else throw new Error(`${graph.name}: cannot fold ${norm.output[0]}`);
    graph.node = graph.node.filter((node) => node !== norm);
  }
}

/** The nodes that read a value; none if it is an output too, which has to stay what it is. */
function innerReaders(graph: Graph, name: string): Node[] {
  if (graph.output.some((output) => output.name === name)) return [];
  return graph.node.filter(({ input }) => input.includes(name));
}

function isGemm({ opType }: Node): boolean {
  return opType === "Gemm";
}

function affineOf(norm: Node, weights: ReadonlyMap<string, Tensor>): Affine {
  const [gamma, beta, mean, variance] = norm.input.slice(1).map((name) => floatsOf(weights.get(name)!));
  const epsilon = attributeOf(norm, "epsilon")?.f ?? 1e-5;
  const scale = Float64Array.from(gamma!, (value, i) => value / Math.sqrt(variance![i]! + epsilon));
  const shift = Float64Array.from(beta!, (value, i) => value - mean![i]! * scale[i]!);
  return { scale, shift };
}

/** weight'[o] = scale[o] weight[o], bias'[o] = scale[o] bias[o] + shift[o]. */
function foldBackward(
  graph: Graph,
  maker: Node,
  { scale, shift }: Affine,
  weights: Map<string, Tensor>,
): void {
  requireRowsByOutput(graph, maker);
  const [x, weightName, biasName] = maker.input;
  const weight = weights.get(weightName!)!;
  const bias = biasName ? floatsOf(weights.get(biasName)!) : new Float32Array(scale.length);
  const values = floatsOf(weight);
  const row = values.length / scale.length;
  setInputs(graph, maker, weights, x!, [
    floatTensor(
      `${maker.output[0]}/weight-folded`,
      dimsOf(weight),
      values.map((v, i) => v * scale[Math.floor(i / row)]!),
    ),
    floatTensor(
      `${maker.output[0]}/bias-folded`,
      [scale.length],
      bias.map((v, i) => v * scale[i]! + shift[i]!),
    ),
  ]);
}

/** The same for a product that reads a normalised value flattened channel by channel. */
function foldForward(
  graph: Graph,
  product: Node,
  { scale, shift }: Affine,
  weights: Map<string, Tensor>,
): void {
  requireRowsByOutput(graph, product);
  const [x, weightName, biasName] = product.input;
  const weight = weights.get(weightName!)!;
  const values = floatsOf(weight);
  const [rows = 1, columns = 1] = dimsOf(weight);
  const area = columns / scale.length;
  const unshifted = biasName ? floatsOf(weights.get(biasName)!) : new Float32Array(rows);
  const bias = unshifted.map((v, row) => {
    let sum = v;
    for (let column = 0; column < columns; column++)
      sum += values[row * columns + column]! * shift[Math.floor(column / area)]!;
    return sum;
  });
  const scaled = values.map((v, i) => v * scale[Math.floor((i % columns) / area)]!);
  setInputs(graph, product, weights, x!, [
    floatTensor(`${product.output[0]}/weight-scaled`, [rows, columns], scaled),
    floatTensor(`${product.output[0]}/bias-shifted`, [rows], bias),
  ]);
}

/** A matrix product must hold one row of weights for each output, unscaled, as a convolution does. */
function requireRowsByOutput(graph: Graph, node: Node): void {
  if (!isGemm(node)) return;
  if (attributeOf(node, "transB")?.i !== 1n)
    throw new Error(`${graph.name}: ${node.output[0]} is not transposed`);
  if (["alpha", "beta"].some((factor) => (attributeOf(node, factor)?.f ?? 1) !== 1))
    throw new Error(`${graph.name}: ${node.output[0]} is scaled`);
}

function setInputs(
  graph: Graph,
  node: Node,
  weights: Map<string, Tensor>,
  x: string,
  tensors: Tensor[],
): void {
  node.input = [x, ...tensors.map(({ name }) => name)];
  for (const tensor of tensors) {
    graph.initializer.push(tensor);
    weights.set(tensor.name, tensor);
  }
}

/** Drops nodes whose results nobody reads, and weights that no node reads any more. */
function prune(graph: Graph): void {
  const needed = new Set(graph.output.map((value) => value.name));
  const kept: Node[] = [];
  for (const node of graph.node.toReversed()) {
    if (!node.output.some((name) => needed.has(name))) continue;
    for (const name of node.input) needed.add(name);
    kept.push(node);
  }
  graph.node = kept.reverse();
  graph.initializer = graph.initializer.filter(({ name }) => needed.has(name));
}

function weightsOf(graph: Graph): Map<string, Tensor> {
  return new Map(graph.initializer.map((tensor) => [tensor.name, tensor]));
}
