import { createNode, dimsOf, floatsOf, floatTensor, type Graph, type Node, type Tensor } from "./onnx.ts";

/** y = x where x is positive, otherwise slope times x. */
interface PRelu {
  readonly node: Node;
  readonly x: string;
  readonly y: string;
  readonly slope: Tensor;
}

type Weights = ReadonlyMap<string, Tensor>;

/**
 * Writes every prelu in operations that onnxruntime joins with the convolutions around them: its own PRelu is
 * slow, and an activation on its own is one more walk over the memory.
 */
export function replacePRelus(graph: Graph): void {
  const weights = new Map(graph.initializer.map((tensor) => [tensor.name, tensor]));
  const obsolete = new Set<Node>();
  const nodes = graph.node.flatMap((node) => {
    if (node.opType !== "PRelu") return [node];
    const [x, slope] = node.input as [string, string];
    const prelu = { node, x, y: node.output[0]!, slope: weights.get(slope)! };
    if (floatsOf(prelu.slope).some((a) => a > 1)) return scaleRelu(graph, prelu);
    const maker = graph.node.find(({ output }) => output[0] === x);
    if (!maker || !canConvolveTwice(graph, maker, prelu, weights)) return reluScaled(graph, prelu);
    obsolete.add(maker);
    return convolveTwice(graph, maker, prelu, weights);
  });
  graph.node = nodes.filter((node) => !obsolete.has(node));
}

/** prelu(x) = a x + (1 - a) relu(x), for any a. */
function scaleRelu(graph: Graph, { x, y, slope }: PRelu): Node[] {
  addFactors(graph, y, slope);
  return [
    createNode("Mul", [x, `${y}/slope`], `${y}/sloped`),
    createNode("Relu", [x], `${y}/relu`),
    createNode("Mul", [`${y}/relu`, `${y}/rest`], `${y}/positive`),
    createNode("Add", [`${y}/sloped`, `${y}/positive`], y),
  ];
}

/** prelu(x) = a x + relu((1 - a) x), where no a is above 1: onnxruntime makes two convolutions of it. */
function reluScaled(graph: Graph, { x, y, slope }: PRelu): Node[] {
  addFactors(graph, y, slope);
  return [
    createNode("Mul", [x, `${y}/rest`], `${y}/scaled`),
    createNode("Relu", [`${y}/scaled`], `${y}/positive`),
    createNode("Mul", [x, `${y}/slope`], `${y}/sloped`),
    createNode("Add", [`${y}/sloped`, `${y}/positive`], y),
  ];
}

function addFactors(graph: Graph, y: string, slope: Tensor): void {
  const values = floatsOf(slope);
  graph.initializer.push(
    floatTensor(`${y}/slope`, dimsOf(slope), values),
    floatTensor(
      `${y}/rest`,
      dimsOf(slope),
      values.map((a) => 1 - a),
    ),
  );
}

/** The same with both factors in the weights: a depthwise convolution is quicker done twice than scaled afterwards. */
function convolveTwice(graph: Graph, maker: Node, { y, slope }: PRelu, weights: Weights): Node[] {
  const slopes = floatsOf(slope);
  const convolve = (output: string, factorOf: (slope: number) => number): Node => {
    const [x, ...names] = maker.input as [string, ...string[]];
    const scaled = names.map((name) => {
      const tensor = weights.get(name)!;
      const values = floatsOf(tensor);
      const row = values.length / dimsOf(tensor)[0]!;
      const factorAt = (i: number) => factorOf(slopes[Math.floor(i / row) % slopes.length]!);
      return floatTensor(
        `${output}/${name}`,
        dimsOf(tensor),
        values.map((value, i) => value * factorAt(i)),
      );
    });
    graph.initializer.push(...scaled);
    const conv = createNode("Conv", [x, ...scaled.map(({ name }) => name)], output);
    conv.attribute = maker.attribute;
    return conv;
  };
  return [
    convolve(`${y}/scaled`, (a) => 1 - a),
    createNode("Relu", [`${y}/scaled`], `${y}/positive`),
    convolve(`${y}/sloped`, (a) => a),
    createNode("Add", [`${y}/sloped`, `${y}/positive`], y),
  ];
}

/** Only a depthwise convolution that nobody else reads, and only where a channel has one slope. */
function canConvolveTwice(graph: Graph, maker: Node, { node, x, slope }: PRelu, weights: Weights): boolean {
  if (maker.opType !== "Conv") return false;
  const [channels, inputs] = dimsOf(weights.get(maker.input[1]!)!);
  const isReadElsewhere =
    graph.node.some((other) => other !== node && other.input.includes(x)) ||
    graph.output.some(({ name }) => name === x);
  return inputs === 1 && !isReadElsewhere && [1, channels].includes(floatsOf(slope).length);
}
