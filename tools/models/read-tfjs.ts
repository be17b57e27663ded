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
 * Converts a tfjs graph model (its JSON and its weights) to an ONNX graph. Image tensors change from NHWC to NCHW;
 * reshaped tensors keep the NHWC order of their values. The caller names the outputs of the graph.
 */
export function readTfjsGraph(name: string, json: string, weightBytes: Uint8Array): Graph {
  const model = JSON.parse(json) as TfGraphModel;
  return new Converter(name, readWeights(model.weightsManifest, weightBytes)).run(model.modelTopology.node);
}

/** The size of an image tensor, from which explicit padding is computed. */
type Size = readonly [channels: number, height: number, width: number];

class Converter {
  private readonly name: string;
  private readonly weights: ReadonlyMap<string, Weight>;
  private readonly sizes = new Map<string, Size>();
  private graph: Graph | undefined;

  constructor(name: string, weights: ReadonlyMap<string, Weight>) {
    this.name = name;
    this.weights = weights;
  }

  run(nodes: readonly TfNode[]): Graph {
    for (const node of nodes) if (node.op === "Placeholder") this.createGraph(node);
    for (const node of sortTopologically(nodes)) this.convert(node);
    return this.target;
  }

  private get target(): Graph {
    if (!this.graph) throw new Error(`${this.name}: the graph has no input`);
    return this.graph;
  }

  private createGraph(node: TfNode): void {
    const [, height, width, channels] = node.attr?.shape?.shape?.dim.map(({ size }) => Number(size)) ?? [];
    if (!height || !width || !channels) throw new Error(`${this.name}: the input's size is not fixed`);
    this.graph = createGraph(this.name, ["N", channels, height, width]);
    this.sizes.set(node.name, [channels, height, width]);
    this.addNode("Identity", ["input"], node.name);
  }

  private convert(node: TfNode): void {
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
        this.addNode("Identity", [x], node.name);
        break;
      case "Reshape":
        this.reshape(node, x, second);
        break;
      default:
        throw new Error(`${this.name}: unsupported operator ${node.op} (${node.name})`);
    }
  }

  private elementwise(operator: string, inputs: [string, ...string[]], output: string): void {
    this.addNode(operator, inputs, output);
    this.setSize(output, this.size(inputs[0]));
  }

  private maxPool(node: TfNode, x: string): void {
    const [, height = 1, width = 1] = intsOf(node, "ksize");
    const { strides, pads, size } = this.window(node, x, [height, width]);
    this.addNode("MaxPool", [x], node.name, { kernel_shape: [height, width], strides, pads });
    this.setSize(node.name, [this.size(x)[0], ...size]);
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
    // A depthwise filter has `outputs` filters per input channel (the channel multiplier).
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
    const nodeInputs = [
      x,
      this.addConstant(`${output}/weight`, [channels, perGroup, height, width], weights),
    ];
    if (bias) nodeInputs.push(this.addConstant(`${output}/bias`, [channels], this.floats(bias)));
    const { strides, pads, size } = this.window(node, x, [height, width]);
    this.addNode("Conv", nodeInputs, output, { group, kernel_shape: [height, width], pads, strides });
    this.setSize(output, [channels, ...size]);
  }

  private prelu(x: string, alpha: string, output: string): void {
    const values = this.floats(alpha);
    this.elementwise(
      "PRelu",
      [x, this.addConstant(`${output}/alpha`, [values.length, 1, 1], values)],
      output,
    );
  }

  private pad(node: TfNode, x: string, paddings: string): void {
    const [nBefore, nAfter, hBefore, hAfter, wBefore, wAfter, cBefore, cAfter] = this.weight(paddings).values;
    const before = [nBefore!, cBefore!, hBefore!, wBefore!];
    const after = [nAfter!, cAfter!, hAfter!, wAfter!];
    const pads = `${node.name}/pads`;
    this.target.initializer.push(intTensor(pads, [...before, ...after]));
    this.addNode("Pad", [x, pads], node.name);
    const [channels, height, width] = this.size(x);
    this.setSize(node.name, [
      channels + cBefore! + cAfter!,
      height + hBefore! + hAfter!,
      width + wBefore! + wAfter!,
    ]);
  }

  private reshape(node: TfNode, x: string, shape: string): void {
    const [, ...rest] = this.weight(shape).values;
    const target = `${node.name}/shape`;
    // 0 keeps the batch size.
    this.target.initializer.push(intTensor(target, [0, ...rest]));
    this.addNode("Transpose", [x], `${node.name}/channels-last`, { perm: [0, 2, 3, 1] });
    this.addNode("Reshape", [`${node.name}/channels-last`, target], node.name);
  }

  /** Strides, explicit padding and output size of a sliding window. */
  private window(node: TfNode, x: string, kernel: readonly [number, number]) {
    const [, height, width] = this.size(x);
    const [, strideH = 1, strideW = 1] = intsOf(node, "strides");
    const isSame = decodeBase64(node.attr?.padding?.s ?? "") === "SAME";
    const [top, bottom, outHeight] = padAxis(height, kernel[0], strideH, isSame);
    const [left, right, outWidth] = padAxis(width, kernel[1], strideW, isSame);
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

  private setSize(name: string, size: Size): void {
    this.sizes.set(name, size);
  }

  private addConstant(name: string, dims: readonly number[], values: Float32Array): string {
    this.target.initializer.push(floatTensor(name, dims, values));
    return name;
  }

  private addNode(...node: Parameters<typeof createNode>): void {
    this.target.node.push(createNode(...node));
  }
}

/** Padding before, padding after and output size along one axis, as TensorFlow defines SAME and VALID padding. */
function padAxis(length: number, kernel: number, stride: number, isSame: boolean): [number, number, number] {
  if (!isSame) return [0, 0, Math.floor((length - kernel) / stride) + 1];
  const outputs = Math.ceil(length / stride);
  const padding = Math.max((outputs - 1) * stride + kernel - length, 0);
  const before = Math.floor(padding / 2);
  return [before, padding - before, outputs];
}

/** Sorts nodes topologically: each node comes after its inputs. */
function sortTopologically(nodes: readonly TfNode[]): TfNode[] {
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
