import { create } from "@bufbuild/protobuf";
import { TensorSchema } from "../../gen/ts/onnx/v1/onnx_pb.ts";
import { halfFromFloat } from "./half.ts";
import { createNode, DataType, floatsOf, type Graph, type Tensor } from "./onnx.ts";

/** Stores the float initializers of a graph in half precision. A Cast node restores each one at load time. */
export function storeHalf(graph: Graph): Graph {
  const weights = graph.initializer.filter(({ dataType }) => dataType === DataType.FLOAT);
  const casts = weights.map(({ name }) => createNode("Cast", [`${name}/half`], name, { to: DataType.FLOAT }));
  graph.initializer = graph.initializer.map((tensor) =>
    weights.includes(tensor) ? convertToHalf(tensor) : tensor,
  );
  graph.node = [...casts, ...graph.node];
  return graph;
}

function convertToHalf(tensor: Tensor): Tensor {
  const values = floatsOf(tensor);
  const rawData = new Uint8Array(values.length * 2);
  const view = new DataView(rawData.buffer);
  values.forEach((value, i) => {
    view.setUint16(i * 2, halfFromFloat(value), true);
  });
  return create(TensorSchema, {
    name: `${tensor.name}/half`,
    dims: tensor.dims,
    dataType: DataType.FLOAT16,
    rawData,
  });
}
