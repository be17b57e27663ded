import { createNode, dimsOf, floatsOf, floatTensor, type Graph, type Node, type Tensor } from "./onnx.ts";

/** PRelu: y = x for positive x, otherwise slope * x. */
interface PRelu {
  readonly node: Node;
  readonly x: string;
  readonly y: string;
  readonly slope: Tensor;
}

type Initializers = ReadonlyMap<string, Tensor>;

/**
 * Replaces every PRelu by operators that onnxruntime fuses with the neighbouring convolutions. Its own PRelu kernel is
 * slow, and an unfused activation costs another pass over memory.
 */
export function replacePRelus(graph: Graph): void {
  const initializers = new Map(graph.initializer.map((tensor) => [tensor.name, tensor]));
  const obsolete = new Set<Node>();
  const nodes = graph.node.flatMap((node) => {
    if (node.opType !== "PRelu") return [node];
    const [x, slope] = node.input as [string, string];
    const prelu = { node, x, y: node.output[0]!, slope: initializers.get(slope)! };
    if (floatsOf(prelu.slope).some((a) => a > 1)) return expandWithScaledRelu(graph, prelu);
    const producer = graph.node.find(({ output }) => output[0] === x);
    if (!producer || !canDuplicateConv(graph, producer, prelu, initializers))
      return expandWithReluOfScaled(graph, prelu);
    obsolete.add(producer);
    return duplicateConv(graph, producer, prelu, initializers);
  });
  graph.node = nodes.filter((node) => !obsolete.has(node));
}

/** prelu(x) = a x + (1 - a) relu(x), valid for any slope a. */
function expandWithScaledRelu(graph: Graph, { x, y, slope }: PRelu): Node[] {
  addSlopeInitializers(graph, y, slope);
  return [
    createNode("Mul", [x, `${y}/slope`], `${y}/sloped`),
    createNode("Relu", [x], `${y}/relu`),
    createNode("Mul", [`${y}/relu`, `${y}/rest`], `${y}/positive`),
    createNode("Add", [`${y}/sloped`, `${y}/positive`], y),
  ];
}

/** prelu(x) = a x + relu((1 - a) x), valid for slopes up to 1. onnxruntime turns it into two convolutions. */
function expandWithReluOfScaled(graph: Graph, { x, y, slope }: PRelu): Node[] {
  addSlopeInitializers(graph, y, slope);
  return [
    createNode("Mul", [x, `${y}/rest`], `${y}/scaled`),
    createNode("Relu", [`${y}/scaled`], `${y}/positive`),
    createNode("Mul", [x, `${y}/slope`], `${y}/sloped`),
    createNode("Add", [`${y}/sloped`, `${y}/positive`], y),
  ];
}

function addSlopeInitializers(graph: Graph, y: string, slope: Tensor): void {
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

/**
 * The same expansion with both factors folded into the weights of the preceding depthwise convolution: running it twice
 * is faster than scaling its output.
 */
function duplicateConv(graph: Graph, conv: Node, { y, slope }: PRelu, initializers: Initializers): Node[] {
  const slopes = floatsOf(slope);
  const createScaledConv = (output: string, factorOf: (slope: number) => number): Node => {
    const [x, ...names] = conv.input as [string, ...string[]];
    const scaled = names.map((name) => {
      const tensor = initializers.get(name)!;
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
    const scaledConv = createNode("Conv", [x, ...scaled.map(({ name }) => name)], output);
    scaledConv.attribute = conv.attribute;
    return scaledConv;
  };
  return [
    createScaledConv(`${y}/scaled`, (a) => 1 - a),
    createNode("Relu", [`${y}/scaled`], `${y}/positive`),
    createScaledConv(`${y}/sloped`, (a) => a),
    createNode("Add", [`${y}/sloped`, `${y}/positive`], y),
  ];
}

/** Whether the producer is a depthwise convolution without other consumers, and the slope is per channel or shared. */
function canDuplicateConv(
  graph: Graph,
  producer: Node,
  { node, x, slope }: PRelu,
  initializers: Initializers,
): boolean {
  if (producer.opType !== "Conv") return false;
  const [channels, inputs] = dimsOf(initializers.get(producer.input[1]!)!);
  const hasOtherConsumers =
    graph.node.some((other) => other !== node && other.input.includes(x)) ||
    graph.output.some(({ name }) => name === x);
  return inputs === 1 && !hasOtherConsumers && [1, channels].includes(floatsOf(slope).length);
}
