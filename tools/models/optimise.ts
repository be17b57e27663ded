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

/** The names of a graph's input and outputs. */
export interface Names {
  /** The name of the only input in the source graph. It becomes "input". */
  readonly input: string;
  /** Whether the source graph expects blue, green, red. */
  readonly isBgr?: boolean;
  /** What the source graph expects for 255. */
  readonly white?: number;
  /** By output name: the values of the source graph that are concatenated along the second axis. */
  readonly outputs: Readonly<Record<string, readonly string[]>>;
}

/**
 * Rewrites a graph to an equivalent one that runs faster. The arithmetic has a fixed order, so that the result has the
 * same bytes on every machine.
 */
export function optimise(graph: Graph, names: Names): Graph {
  renameInputAndOutputs(graph, names);
  foldConstants(graph);
  removeIdentities(graph);
  adaptInput(graph, names);
  foldBatchNorms(graph);
  keepBlockedLayout(graph);
  replacePRelus(graph);
  removeUnused(graph);
  return graph;
}

/** Renames input and outputs, removes initializers from the inputs, and makes the batch size dynamic. */
function renameInputAndOutputs(graph: Graph, { input, outputs }: Names): void {
  const initializers = new Set(graph.initializer.map((tensor) => tensor.name));
  const [image] = graph.input.filter((value) => !initializers.has(value.name));
  const shape = image?.type?.tensorType?.shape?.dim.map(({ size }) => size) ?? [];
  if (image?.name !== input) throw new Error(`${graph.name}: the input is ${image?.name}, not ${input}`);
  graph.input = [
    floatValue("input", [
      "N",
      ...shape.slice(1).map(({ value }) => (typeof value === "bigint" ? Number(value) : value!)),
    ]),
  ];
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

/** Makes a graph accept red, green, blue from 0 to 255: changes the weights of its first convolution. */
function adaptInput(graph: Graph, { isBgr = false, white = 255 }: Names): void {
  if (!isBgr && white === 255) return;
  const initializers = initializersOf(graph);
  for (const conv of graph.node.filter(({ input }) => input[0] === "input")) {
    const weight = initializers.get(conv.input[1]!);
    if (conv.opType !== "Conv" || !weight)
      throw new Error(`${graph.name}: ${conv.output[0]} is not a convolution`);
    const [, colours = 0, ...kernel] = dimsOf(weight);
    const values = floatsOf(weight);
    const plane = kernel.reduce((area, size) => area * size, 1);
    const adapted = values.map((_, i) => {
      const colour = Math.floor(i / plane) % colours;
      return (values[isBgr ? i + (colours - 1 - 2 * colour) * plane : i]! * white) / 255;
    });
    graph.initializer.push(floatTensor(`${weight.name}/rgb`, dimsOf(weight), adapted));
    conv.input[1] = `${weight.name}/rgb`;
  }
}

/** Constant folding: replaces Constant nodes and casts of half precision initializers by float initializers. */
function foldConstants(graph: Graph): void {
  const initializers = initializersOf(graph);
  graph.node = graph.node.filter((node) => {
    const [output = ""] = node.output;
    if (node.opType === "Constant") {
      const tensor = attributeOf(node, "value")?.t;
      if (!tensor) throw new Error(`${graph.name}: constant ${output} has no tensor`);
      tensor.name = output;
      graph.initializer.push(tensor);
      return false;
    }
    const half = node.opType === "Cast" ? initializers.get(node.input[0]!) : undefined;
    if (half?.dataType !== DataType.FLOAT16) return true;
    graph.initializer.push(floatTensor(output, dimsOf(half), floatsOf(half)));
    return false;
  });
}

/** Removes Identity and Dropout nodes, which do nothing at inference. */
function removeIdentities(graph: Graph): void {
  const outputs = new Set(graph.output.map((value) => value.name));
  const replacements = new Map<string, string>();
  graph.node = graph.node.filter((node) => {
    node.input = node.input.map((name) => replacements.get(name) ?? name);
    if (!isIdentity(node) || outputs.has(node.output[0]!)) return true;
    replacements.set(node.output[0]!, node.input[0]!);
    return false;
  });
  // An identity that produces an output is removed by renaming its input.
  for (const node of graph.node.filter(isIdentity)) {
    const [input, output] = [node.input[0]!, node.output[0]!];
    const producer = graph.node.find((other) => other.output[0] === input);
    // A value with two output names keeps the first one, and the second stays an identity.
    if (!producer || (outputs.has(input) && input !== output)) continue;
    const rename = (name: string) => (name === input ? output : name);
    graph.node = graph.node.filter((other) => other !== node);
    for (const other of graph.node) {
      other.input = other.input.map(rename);
      other.output = other.output.map(rename);
    }
  }
}

function isIdentity({ opType }: Node): boolean {
  return opType === "Identity" || opType === "Dropout";
}

/** A batch normalisation at inference: y = scale * x + shift, per channel. */
interface Affine {
  readonly scale: Float64Array;
  readonly shift: Float64Array;
}

/** Folds each batch norm into the preceding Conv or Gemm, or into the following Gemm nodes. */
function foldBatchNorms(graph: Graph): void {
  const initializers = initializersOf(graph);
  for (const norm of graph.node.filter(({ opType }) => opType === "BatchNormalization")) {
    const affine = affineOf(norm, initializers);
    const producer = graph.node.find(({ output }) => output[0] === norm.input[0]);
    const consumers = innerConsumers(graph, norm.output[0]!);
    const [flatten] = consumers;
    const isFlattened = consumers.length === 1 && flatten!.opType === "Flatten";
    const gemms = isFlattened ? innerConsumers(graph, flatten!.output[0]!) : consumers;
    if (
      (producer?.opType === "Conv" || producer?.opType === "Gemm") &&
      innerConsumers(graph, norm.input[0]!).length === 1
    ) {
      foldIntoProducer(graph, producer, affine, initializers);
      producer.output = norm.output;
    } else if (gemms.length && gemms.every(isGemm)) {
      for (const gemm of gemms) foldIntoConsumer(graph, gemm, affine, initializers);
      for (const consumer of consumers) consumer.input[0] = norm.input[0]!;
    } else throw new Error(`${graph.name}: cannot fold ${norm.output[0]}`);
    graph.node = graph.node.filter((node) => node !== norm);
  }
}

/** The nodes that read a value. Empty if the value is also an output, which must not change. */
function innerConsumers(graph: Graph, name: string): Node[] {
  if (graph.output.some((output) => output.name === name)) return [];
  return graph.node.filter(({ input }) => input.includes(name));
}

function isGemm({ opType }: Node): boolean {
  return opType === "Gemm";
}

function affineOf(norm: Node, initializers: ReadonlyMap<string, Tensor>): Affine {
  const [gamma, beta, mean, variance] = norm.input.slice(1).map((name) => floatsOf(initializers.get(name)!));
  const epsilon = attributeOf(norm, "epsilon")?.f ?? 1e-5;
  const scale = Float64Array.from(gamma!, (value, i) => value / Math.sqrt(variance![i]! + epsilon));
  const shift = Float64Array.from(beta!, (value, i) => value - mean![i]! * scale[i]!);
  return { scale, shift };
}

/** weight'[o] = scale[o] weight[o], bias'[o] = scale[o] bias[o] + shift[o]. */
function foldIntoProducer(
  graph: Graph,
  producer: Node,
  { scale, shift }: Affine,
  initializers: Map<string, Tensor>,
): void {
  requirePlainGemm(graph, producer);
  const [x, weightName, biasName] = producer.input;
  const weight = initializers.get(weightName!)!;
  const bias = biasName ? floatsOf(initializers.get(biasName)!) : new Float32Array(scale.length);
  const values = floatsOf(weight);
  const row = values.length / scale.length;
  setParameters(graph, producer, initializers, x!, [
    floatTensor(
      `${producer.output[0]}/weight-folded`,
      dimsOf(weight),
      values.map((v, i) => v * scale[Math.floor(i / row)]!),
    ),
    floatTensor(
      `${producer.output[0]}/bias-folded`,
      [scale.length],
      bias.map((v, i) => v * scale[i]! + shift[i]!),
    ),
  ]);
}

/** Folds a batch norm into a Gemm that reads its output, flattened in channel order. */
function foldIntoConsumer(
  graph: Graph,
  gemm: Node,
  { scale, shift }: Affine,
  initializers: Map<string, Tensor>,
): void {
  requirePlainGemm(graph, gemm);
  const [x, weightName, biasName] = gemm.input;
  const weight = initializers.get(weightName!)!;
  const values = floatsOf(weight);
  const [rows = 1, columns = 1] = dimsOf(weight);
  const area = columns / scale.length;
  const unshifted = biasName ? floatsOf(initializers.get(biasName)!) : new Float32Array(rows);
  const bias = unshifted.map((v, row) => {
    let sum = v;
    for (let column = 0; column < columns; column++)
      sum += values[row * columns + column]! * shift[Math.floor(column / area)]!;
    return sum;
  });
  const scaled = values.map((v, i) => v * scale[Math.floor((i % columns) / area)]!);
  setParameters(graph, gemm, initializers, x!, [
    floatTensor(`${gemm.output[0]}/weight-scaled`, [rows, columns], scaled),
    floatTensor(`${gemm.output[0]}/bias-shifted`, [rows], bias),
  ]);
}

/** Throws unless a Gemm has transposed weights (one row per output, as in Conv) and no alpha or beta. */
function requirePlainGemm(graph: Graph, node: Node): void {
  if (!isGemm(node)) return;
  if (attributeOf(node, "transB")?.i !== 1n)
    throw new Error(`${graph.name}: ${node.output[0]} is not transposed`);
  if (["alpha", "beta"].some((factor) => (attributeOf(node, factor)?.f ?? 1) !== 1))
    throw new Error(`${graph.name}: ${node.output[0]} is scaled`);
}

function setParameters(
  graph: Graph,
  node: Node,
  initializers: Map<string, Tensor>,
  x: string,
  tensors: Tensor[],
): void {
  node.input = [x, ...tensors.map(({ name }) => name)];
  for (const tensor of tensors) {
    graph.initializer.push(tensor);
    initializers.set(tensor.name, tensor);
  }
}

/** Removes nodes and initializers that no output depends on. */
function removeUnused(graph: Graph): void {
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

function initializersOf(graph: Graph): Map<string, Tensor> {
  return new Map(graph.initializer.map((tensor) => [tensor.name, tensor]));
}
