import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type Attribute,
  AttributeSchema,
  AttributeType,
  DataType,
  type Graph,
  GraphSchema,
  type Model,
  ModelSchema,
  type Node,
  NodeSchema,
  type Tensor,
  TensorSchema,
  type Value,
  ValueSchema,
} from "../../gen/ts/onnx/v1/onnx_pb.ts";
import { floatFromHalf } from "./half.ts";

export type { Graph, Node, Tensor } from "../../gen/ts/onnx/v1/onnx_pb.ts";
export { DataType } from "../../gen/ts/onnx/v1/onnx_pb.ts";

/** The operator set that we write, and the matching IR version. */
const OPSET = 17n;
const IR_VERSION = 8n;

/** Reads an ONNX file. */
export function readOnnx(bytes: Uint8Array): Graph {
  const { graph } = fromBinary(ModelSchema, bytes);
  if (!graph) throw new Error("The ONNX file has no graph.");
  return graph;
}

/** Writes an ONNX file. The same graph always gives the same bytes. */
export function writeOnnx(graph: Graph): Uint8Array {
  const model: Model = create(ModelSchema, {
    irVersion: IR_VERSION,
    producerName: "visage",
    graph,
    opsetImport: [{ domain: "", version: OPSET }],
  });
  return toBinary(ModelSchema, model);
}

/** Creates an empty graph with one float input. A name in the shape is a dimension of any size. */
export function createGraph(name: string, inputShape: readonly (number | string)[]): Graph {
  return create(GraphSchema, { name, input: [floatValue("input", inputShape)] });
}

/** Creates a float input or output of a graph. A name in the shape is a dimension of any size. */
export function floatValue(name: string, shape?: readonly (number | string)[]): Value {
  const dim = shape?.map((size) => ({
    size:
      typeof size === "string"
        ? { case: "param" as const, value: size }
        : { case: "value" as const, value: BigInt(size) },
  }));
  return create(ValueSchema, {
    name,
    type: { tensorType: { elemType: DataType.FLOAT, ...(dim && { shape: { dim } }) } },
  });
}

type AttributeValue = number | string | readonly number[];

/** Creates a node with one output. Attributes are integers, lists of integers, or strings. */
export function createNode(
  opType: string,
  input: string[],
  output: string,
  attributes: Readonly<Record<string, AttributeValue>> = {},
): Node {
  return create(NodeSchema, {
    name: output,
    opType,
    input,
    output: [output],
    attribute: Object.entries(attributes).map(([name, value]) => createAttribute(name, value)),
  });
}

function createAttribute(name: string, value: AttributeValue): Attribute {
  if (typeof value === "string")
    return create(AttributeSchema, {
      name,
      s: new TextEncoder().encode(value),
      type: AttributeType.STRING,
    });
  if (typeof value === "number")
    return create(AttributeSchema, { name, i: BigInt(value), type: AttributeType.INT });
  return create(AttributeSchema, { name, ints: value.map(BigInt), type: AttributeType.INTS });
}

/** Finds an attribute of a node by name. */
export function attributeOf(node: Node, name: string): Attribute | undefined {
  return node.attribute.find((attribute) => attribute.name === name);
}

/** Creates a float32 tensor. */
export function floatTensor(name: string, dims: readonly number[], values: Float32Array): Tensor {
  const rawData = new Uint8Array(values.length * 4);
  const view = new DataView(rawData.buffer);
  for (let i = 0; i < values.length; i++) view.setFloat32(i * 4, values[i]!, true);
  return create(TensorSchema, { name, dims: dims.map(BigInt), dataType: DataType.FLOAT, rawData });
}

/** Creates a one-dimensional int64 tensor. */
export function intTensor(name: string, values: readonly number[]): Tensor {
  const rawData = new Uint8Array(values.length * 8);
  const view = new DataView(rawData.buffer);
  values.forEach((value, index) => {
    view.setBigInt64(index * 8, BigInt(value), true);
  });
  return create(TensorSchema, { name, dims: [BigInt(values.length)], dataType: DataType.INT64, rawData });
}

/** Reads the values of an int64 tensor. */
export function intsOf({ rawData: { buffer, byteOffset, byteLength } }: Tensor): number[] {
  const view = new DataView(buffer, byteOffset, byteLength);
  return Array.from({ length: byteLength / 8 }, (_, i) => Number(view.getBigInt64(i * 8, true)));
}

/** Reads the values of a float32 or float16 tensor. */
export function floatsOf(tensor: Tensor): Float32Array {
  if (tensor.floatData.length > 0) return Float32Array.from(tensor.floatData);
  const { buffer, byteOffset, byteLength } = tensor.rawData;
  const view = new DataView(buffer, byteOffset, byteLength);
  const isHalf = tensor.dataType === DataType.FLOAT16;
  if (!isHalf && tensor.dataType !== DataType.FLOAT)
    throw new Error(`${tensor.name} is not a float tensor (data type ${tensor.dataType})`);
  const values = new Float32Array(byteLength / (isHalf ? 2 : 4));
  for (let i = 0; i < values.length; i++)
    values[i] = isHalf ? floatFromHalf(view.getUint16(i * 2, true)) : view.getFloat32(i * 4, true);
  return values;
}

/** The dimensions of a tensor. */
export function dimsOf(tensor: Tensor): number[] {
  return tensor.dims.map(Number);
}
