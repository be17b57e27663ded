import { createGraph, createNode, floatTensor, type Graph, intTensor } from "./onnx.ts";
import { readWeights, type Weight, type WeightsManifest } from "./tfjs-weights.ts";

interface TfNode {
  readonly name: string;
  readonly op: string;
  readonly input?: readonly string[];
  readonly attr?: Readonly<Record<string, TfAttribute>>;
}

interface TfAttribute {
  readonly s?: string;
  readonly list?: { readonly i?: readonly string[]; readonly s?: readonly string[] };
  readonly shape?: { readonly dim: readonly { readonly size: string }[] };
}

interface TfGraphModel {
  readonly modelTopology: { readonly node: readonly TfNode[] };
  readonly weightsManifest: WeightsManifest;
}

/**
 * Reads a tfjs graph model (its JSON and its weights) as an ONNX graph. Images turn from height,
 * width, channels to channels, height, width; values that are reshaped keep their order. The
 * graph's outputs are left for the caller to name.
 */
export function readTfjsGraph(name: string, json: string, weightBytes: Uint8Array): Graph {
  const model = JSON.parse(json) as TfGraphModel;
  return new Translation(name, readWeights(model.weightsManifest, weightBytes)).run(model.modelTopology.node);
}

/** Channels, height, width of an image-like value; explicit padding needs it. */
type Size = readonly [channels: number, height: number, width: number];

class Translation {
  private readonly name: string;
  private readonly weights: ReadonlyMap<string, Weight>;
  private readonly sizes = new Map<string, Size>();
  private graph: Graph | undefined;

  constructor(name: string, weights: ReadonlyMap<string, Weight>) {
    this.name = name;
    this.weights = weights;
  }

  run(nodes: readonly TfNode[]): Graph {
    for (const node of nodes) if (node.op === "Placeholder") this.openGraph(node);
    for (const node of inOrder(nodes)) this.translate(node);
    return this.target;
  }

  private get target(): Graph {
    if (!this.graph) throw new Error(`${this.name}: the graph has no input`);
    return this.graph;
  }

  private openGraph(node: TfNode): void {
    const [, height, width, channels] = node.attr?.shape?.shape?.dim.map(({ size }) => Number(size)) ?? [];
    if (!height || !width || !channels) throw new Error(`${this.name}: the input's size is not fixed`);
    this.graph = createGraph(this.name, [null, channels, height, width]);
    this.sizes.set(node.name, [channels, height, width]);
    this.emit("Identity", ["input"], node.name);
  }

  private translate(node: TfNode): void {
    const [x = "", second = "", third = "", fourth = ""] = node.input ?? [];
    switch (node.op) {
      case "Placeholder":
      case "Const":
        break;
      case "_FusedConv2D":
        this.fusedConvolution(node, x, second, third, fourth);
        break;
      case "DepthwiseConv2dNative":
        this.convolution(node, x, second, this.size(x)[0], node.name);
        break;
      case "MaxPool":
        this.maxPool(node, x);
        break;
      case "Pad":
        this.pad(node, x, second);
        break;
      case "AddV2":
        this.elementwise("Add", [x, second], node.name);
        break;
      case "Prelu":
        this.prelu(x, second, node.name);
        break;
      case "Relu":
      case "Sigmoid":
        this.elementwise(node.op, [x], node.name);
        break;
      case "Identity":
        this.emit("Identity", [x], node.name);
        break;
      case "Reshape":
        this.reshape(node, x, second);
        break;
      default:
        throw new Error(`${this.name}: no translation for ${node.op} (${node.name})`);
    }
  }

  private elementwise(operator: string, inputs: [string, ...string[]], output: string): void {
    this.emit(operator, inputs, output);
    this.remember(output, this.size(inputs[0]));
  }

  private maxPool(node: TfNode, x: string): void {
    const [, height = 1, width = 1] = intsOf(node, "ksize");
    const { strides, pads, size } = this.window(node, x, [height, width]);
    this.emit("MaxPool", [x], node.name, { kernel_shape: [height, width], strides, pads });
    this.remember(node.name, [this.size(x)[0], ...size]);
  }

  private fusedConvolution(node: TfNode, x: string, filter: string, bias: string, slope: string): void {
    const [add, activation] = node.attr?.fused_ops?.list?.s?.map(decodeBase64) ?? [];
    if (add !== "BiasAdd") throw new Error(`${this.name}: ${node.name} fuses ${add}, not a bias`);
    const plain = activation ? `${node.name}/linear` : node.name;
    this.convolution(node, x, filter, 1, plain, bias);
    if (activation === "Prelu") this.prelu(plain, slope, node.name);
    else if (activation) this.elementwise(activation, [plain], node.name);
  }

  private convolution(
    node: TfNode,
    x: string,
    filter: string,
    group: number,
    output: string,
    bias?: string,
  ): void {
    const { shape, values } = this.weight(filter);
    const [height = 1, width = 1, inputs = 1, outputs = 1] = shape;
    // A depthwise filter holds `outputs` filters for each of its input channels.
    const channels = group === 1 ? outputs : inputs * outputs;
    const perGroup = group === 1 ? inputs : 1;
    const weights = new Float32Array(values.length);
    for (let channel = 0; channel < channels; channel++)
      for (let input = 0; input < perGroup; input++)
        for (let y = 0; y < height; y++)
          for (let column = 0; column < width; column++) {
            const cell = (y * width + column) * inputs * outputs;
            const from = group === 1 ? cell + input * outputs + channel : cell + channel;
            weights[((channel * perGroup + input) * height + y) * width + column] = values[from]!;
          }
    const inputsOfNode = [x, this.constant(`${output}/weight`, [channels, perGroup, height, width], weights)];
    if (bias) inputsOfNode.push(this.constant(`${output}/bias`, [channels], this.floats(bias)));
    const { strides, pads, size } = this.window(node, x, [height, width]);
    this.emit("Conv", inputsOfNode, output, { group, kernel_shape: [height, width], pads, strides });
    this.remember(output, [channels, ...size]);
  }

  private prelu(x: string, alpha: string, output: string): void {
    const values = this.floats(alpha);
    this.elementwise("PRelu", [x, this.constant(`${output}/alpha`, [values.length, 1, 1], values)], output);
  }

  private pad(node: TfNode, x: string, paddings: string): void {
    const [nBefore, nAfter, hBefore, hAfter, wBefore, wAfter, cBefore, cAfter] = this.weight(paddings).values;
    const before = [nBefore!, cBefore!, hBefore!, wBefore!];
    const after = [nAfter!, cAfter!, hAfter!, wAfter!];
    const pads = `${node.name}/pads`;
    this.target.initializer.push(intTensor(pads, [...before, ...after]));
    this.emit("Pad", [x, pads], node.name);
    const [channels, height, width] = this.size(x);
    this.remember(node.name, [
      channels + cBefore! + cAfter!,
      height + hBefore! + hAfter!,
      width + wBefore! + wAfter!,
    ]);
  }

  private reshape(node: TfNode, x: string, shape: string): void {
    const [, ...rest] = this.weight(shape).values;
    const target = `${node.name}/shape`;
    // 0 keeps the batch as it is.
    this.target.initializer.push(intTensor(target, [0, ...rest]));
    this.emit("Transpose", [x], `${node.name}/channels-last`, { perm: [0, 2, 3, 1] });
    this.emit("Reshape", [`${node.name}/channels-last`, target], node.name);
  }

  /** Strides, explicit padding and resulting size of a sliding window. */
  private window(node: TfNode, x: string, kernel: readonly [number, number]) {
    const [, height, width] = this.size(x);
    const [, strideH = 1, strideW = 1] = intsOf(node, "strides");
    const same = decodeBase64(node.attr?.padding?.s ?? "") === "SAME";
    const [top, bottom, outHeight] = slide(height, kernel[0], strideH, same);
    const [left, right, outWidth] = slide(width, kernel[1], strideW, same);
    return {
      strides: [strideH, strideW],
      pads: [top, left, bottom, right],
      size: [outHeight, outWidth] as const,
    };
  }

  private weight(name: string): Weight {
    const weight = this.weights.get(name);
    if (!weight) throw new Error(`${this.name}: no weight ${name}`);
    return weight;
  }

  private floats(name: string): Float32Array {
    return Float32Array.from(this.weight(name).values);
  }

  private size(name: string): Size {
    const size = this.sizes.get(name);
    if (!size) throw new Error(`${this.name}: size of ${name} is unknown`);
    return size;
  }

  private remember(name: string, size: Size): void {
    this.sizes.set(name, size);
  }

  private constant(name: string, dims: readonly number[], values: Float32Array): string {
    this.target.initializer.push(floatTensor(name, dims, values));
    return name;
  }

  private emit(...node: Parameters<typeof createNode>): void {
    this.target.node.push(createNode(...node));
  }
}

/** Padding before, padding after and number of positions of a window along one axis, by TensorFlow's rule. */
function slide(length: number, kernel: number, stride: number, same: boolean): [number, number, number] {
  if (!same) return [0, 0, Math.floor((length - kernel) / stride) + 1];
  const positions = Math.ceil(length / stride);
  const padding = Math.max((positions - 1) * stride + kernel - length, 0);
  const before = Math.floor(padding / 2);
  return [before, padding - before, positions];
}

/** The nodes in an order in which each comes after what it reads. */
function inOrder(nodes: readonly TfNode[]): TfNode[] {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const ordered = new Set<TfNode>();
  const visit = (node: TfNode) => {
    if (ordered.has(node)) return;
    for (const input of node.input ?? []) {
      const source = byName.get(input);
      if (source) visit(source);
    }
    ordered.add(node);
  };
  nodes.forEach(visit);
  return [...ordered];
}

function intsOf(node: TfNode, name: string): number[] {
  return node.attr?.[name]?.list?.i?.map(Number) ?? [];
}

function decodeBase64(text: string): string {
  return Buffer.from(text, "base64").toString("latin1");
}
