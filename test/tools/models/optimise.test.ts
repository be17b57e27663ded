// Small graphs, run by onnxruntime as they are and as `optimise` leaves them.
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { AttributeSchema, AttributeType } from "../../../gen/ts/onnx/v1/onnx_pb.ts";
import {
  createNode,
  floatValue,
  type Graph,
  intTensor,
  readOnnx,
  writeOnnx,
} from "../../../tools/models/onnx.ts";
import { type Names, optimise } from "../../../tools/models/optimise.ts";
import { storeHalf } from "../../../tools/models/store-half.ts";
import {
  add,
  buildGraph,
  conv,
  depthwise,
  flatten,
  floatAttribute,
  gemm,
  norm,
  type Part,
  pointwise,
  pool,
  prelu,
  weight,
} from "../../support/graphs.ts";
import { openNetwork, runNetwork } from "../../support/networks.ts";
import { concatFloats, largestDifference, randomFloats } from "../../support/numbers.ts";

const BATCH = 2;
const IMAGE = [3, 4, 4];
const REPLACED = ["BatchNormalization", "PRelu", "Identity", "Dropout", "Constant", "Cast"];

describe("optimise computes the same without", () => {
  it("the batch norm after a convolution with a bias", async () => {
    const graph = buildGraph(IMAGE, [conv("data", "c", 4, true), norm("c", "y", 4)]);
    expect(operators(await optimiseAndCompare(graph, IMAGE))).toEqual(["Conv"]);
  });

  it("the batch norm after a convolution without a bias", async () => {
    const graph = buildGraph(IMAGE, [conv("data", "c", 4, false), norm("c", "y", 4)]);
    expect(operators(await optimiseAndCompare(graph, IMAGE))).toEqual(["Conv"]);
  });

  it("a batch norm that names no epsilon", async () => {
    const graph = buildGraph(IMAGE, [conv("data", "c", 4, true), norm("c", "y", 4)]);
    graph.node[1]!.attribute = [];
    expect(operators(await optimiseAndCompare(graph, IMAGE))).toEqual(["Conv"]);
  });

  it("the batch norm after a depthwise convolution", async () => {
    const graph = buildGraph(IMAGE, [depthwise("data", "c"), norm("c", "y", 6)]);
    expect(operators(await optimiseAndCompare(graph, IMAGE))).toEqual(["Conv"]);
  });

  it("the batch norms after convolutions that share their weights", async () => {
    const second = createNode("Conv", ["m", "c/w", "c/b"], "d");
    const graph = buildGraph(
      [3, 6, 6],
      [conv("data", "c", 3, true), norm("c", "m", 3), { nodes: [second], weights: [] }, norm("d", "y", 3)],
    );
    expect(operators(await optimiseAndCompare(graph, [3, 6, 6]))).toEqual(["Conv", "Conv"]);
  });

  it("two batch norms after one convolution", async () => {
    const graph = buildGraph(IMAGE, [conv("data", "c", 4, true), norm("c", "n", 4), norm("n", "y", 4)]);
    expect(operators(await optimiseAndCompare(graph, IMAGE))).toEqual(["Conv"]);
  });

  it("the batch norm after a matrix product", async () => {
    const graph = buildGraph([5], [gemm("data", "g", 5, 4), norm("g", "y", 4)]);
    expect(operators(await optimiseAndCompare(graph, [5]))).toEqual(["Gemm"]);
  });

  it("the batch norm before a flattened matrix product", async () => {
    const graph = buildGraph(IMAGE, [norm("data", "n", 3), flatten("n", "f"), gemm("f", "y", 48, 4)]);
    expect(operators(await optimiseAndCompare(graph, IMAGE))).toEqual(["Flatten", "Gemm"]);
  });

  it("the batch norm before a flattened matrix product without a bias", async () => {
    const graph = buildGraph(IMAGE, [norm("data", "n", 3), flatten("n", "f"), gemm("f", "y", 48, 4, false)]);
    expect(operators(await optimiseAndCompare(graph, IMAGE))).toEqual(["Flatten", "Gemm"]);
  });

  it("the batch norm before two matrix products that read it flattened", async () => {
    const parts = [norm("data", "n", 3), flatten("n", "f"), gemm("f", "y", 48, 4), gemm("f", "z", 48, 2)];
    const optimised = await optimiseAndCompare(buildGraph(IMAGE, parts, ["y", "z"]), IMAGE, {
      y: ["y"],
      z: ["z"],
    });
    expect(operators(optimised)).toEqual(["Flatten", "Gemm", "Gemm"]);
  });

  const SLOPES: readonly (readonly [string, number[], number[]])[] = [
    ["for each channel", IMAGE, [3, 1, 1]],
    ["for all channels", IMAGE, [1]],
    ["for each place", IMAGE, [3, 4, 4]],
    ["for each of a list of numbers", [5], [5]],
  ];

  it.each(SLOPES)("a prelu with a slope %s", async (_, shape, dims) => {
    const optimised = await optimiseAndCompare(buildGraph(shape, [prelu("data", "y", dims, 1)]), shape);
    expect(operators(optimised)).toEqual(["Mul", "Relu", "Mul", "Add"]);
  });

  it.each(SLOPES)("a prelu with a slope above 1 %s", async (_, shape, dims) => {
    const optimised = await optimiseAndCompare(buildGraph(shape, [prelu("data", "y", dims, 3)]), shape);
    expect(operators(optimised)).toEqual(["Mul", "Relu", "Mul", "Add"]);
  });

  it.each([
    ["for each channel", [6, 1, 1]],
    ["for all channels", [1]],
  ])("a prelu with a slope %s after a depthwise convolution", async (_, dims) => {
    const graph = buildGraph(IMAGE, [depthwise("data", "c"), prelu("c", "y", dims, 1)]);
    expect(operators(await optimiseAndCompare(graph, IMAGE))).toEqual(["Conv", "Relu", "Conv", "Add"]);
  });

  it("a prelu with a slope for each place after a depthwise convolution", async () => {
    const graph = buildGraph(IMAGE, [depthwise("data", "c"), prelu("c", "y", [6, 3, 3], 1)]);
    const expected = ["Conv", "Mul", "Relu", "Mul", "Add"];
    expect(operators(await optimiseAndCompare(graph, IMAGE))).toEqual(expected);
  });

  it("a prelu after a depthwise convolution that another node reads too", async () => {
    const sum: Part = { nodes: [createNode("Add", ["c", "p"], "y")], weights: [] };
    const graph = buildGraph(IMAGE, [depthwise("data", "c"), prelu("c", "p", [6, 1, 1], 1), sum]);
    const expected = ["Conv", "Mul", "Relu", "Mul", "Add", "Add"];
    expect(operators(await optimiseAndCompare(graph, IMAGE))).toEqual(expected);
  });

  it("the padding of what a residual block adds to its result", async () => {
    const pads = intTensor("pads", [0, 0, 0, 0, 0, 1, 0, 0]);
    const pad: Part = { nodes: [createNode("Pad", ["data", "pads"], "p")], weights: [pads] };
    const graph = buildGraph(IMAGE, [pad, pointwise("data", "c", 4), add("p", "c")]);
    expect(operators(await optimiseAndCompare(graph, IMAGE))).toEqual(["Conv", "Conv", "Add"]);
  });

  it("pooled channels that fill no block and are added to the result of a residual block", async () => {
    const graph = buildGraph(IMAGE, [pool("data", "p"), pointwise("p", "c", 3), add("c", "p")]);
    expect(operators(await optimiseAndCompare(graph, IMAGE))).toEqual(["MaxPool", "Conv", "Conv", "Add"]);
  });

  it("pooled channels that fill blocks and are added, which stay as they are", async () => {
    const parts = [pointwise("data", "w", 16), pool("w", "p"), pointwise("p", "c", 16, 16), add("c", "p")];
    const optimised = await optimiseAndCompare(buildGraph(IMAGE, parts), IMAGE);
    expect(operators(optimised)).toEqual(["Conv", "MaxPool", "Conv", "Add"]);
  });

  it("nodes that hand their input on", async () => {
    const nodes = [
      createNode("Identity", ["data"], "a"),
      createNode("Dropout", ["a"], "b"),
      createNode("Relu", ["b"], "c"),
      createNode("Identity", ["c"], "d"),
      createNode("Identity", ["d"], "e"),
      createNode("Sigmoid", ["e"], "f"),
      createNode("Dropout", ["f"], "y"),
    ];
    const optimised = await optimiseAndCompare(buildGraph(IMAGE, [{ nodes, weights: [] }]), IMAGE);
    expect(operators(optimised)).toEqual(["Relu", "Sigmoid"]);
  });

  it("constants as nodes", async () => {
    const constant = create(AttributeSchema, {
      name: "value",
      t: weight("", [3, 1, 1]),
      type: AttributeType.TENSOR,
    });
    const node = createNode("Constant", [], "k");
    node.attribute.push(constant);
    const graph = buildGraph(IMAGE, [{ nodes: [node, createNode("Mul", ["data", "k"], "y")], weights: [] }]);
    const optimised = await optimiseAndCompare(graph, IMAGE);
    expect(operators(optimised)).toEqual(["Mul"]);
    expect(weightNames(optimised)).toEqual(["k"]);
  });

  it("casts of weights in half precision", async () => {
    const graph = storeHalf(buildGraph(IMAGE, [conv("data", "c", 4, true), norm("c", "y", 4)]));
    expect(operators(graph)).toContain("Cast");
    const optimised = await optimiseAndCompare(graph, IMAGE);
    expect(operators(optimised)).toEqual(["Conv"]);
    expect(weightNames(optimised)).toEqual(["c/weight-folded", "c/bias-folded"]);
  });

  it("weights among the inputs", async () => {
    const graph = buildGraph(IMAGE, [conv("data", "c", 4, true), norm("c", "y", 4)]);
    // Files from before 2019 list every weight as an input, and not always the image first.
    graph.input.unshift(...graph.initializer.map(({ name, dims }) => floatValue(name, dims.map(Number))));
    const optimised = await optimiseAndCompare(graph, IMAGE);
    expect(optimised.input.map(({ name }) => name)).toEqual(["input"]);
  });

  it("outputs that nobody asks for, and what only they read", async () => {
    const parts = [conv("data", "y", 4, true), conv("data", "u", 5, true), norm("u", "v", 5)];
    const optimised = await optimiseAndCompare(buildGraph(IMAGE, parts, ["y", "v"]), IMAGE);
    expect(operators(optimised)).toEqual(["Conv"]);
    expect(weightNames(optimised)).toEqual(["y/w", "y/b"]);
    expect(optimised.output.map(({ name }) => name)).toEqual(["y"]);
  });
});

describe("optimise names outputs", () => {
  const parts = [gemm("data", "a", 5, 4), gemm("a", "b", 4, 3), gemm("b", "c", 3, 2)];

  it("that join several values, image by image", async () => {
    const names = { all: ["c", "a"], one: ["b"] };
    const optimised = await optimiseAndCompare(buildGraph([5], parts, ["a", "b", "c"]), [5], names);
    expect(operators(optimised)).toEqual(["Gemm", "Gemm", "Gemm", "Concat"]);
  });

  it("that other nodes read", async () => {
    const optimised = await optimiseAndCompare(buildGraph([5], parts, ["a", "c"]), [5], {
      inner: ["a"],
      last: ["c"],
    });
    expect(operators(optimised)).toEqual(["Gemm", "Gemm", "Gemm"]);
  });

  it("that are one value under two names", async () => {
    const graph = buildGraph([5], parts, ["c"]);
    await optimiseAndCompare(graph, [5], { first: ["c"], second: ["c"] }, ["BatchNormalization", "PRelu"]);
  });
});

describe("optimise refuses", () => {
  const refuse = (graph: Graph, outputs: Names["outputs"] = { y: ["y"] }) =>
    expect(() => optimise(graph, { input: "data", outputs }));

  it("another input than the one it is told", () => {
    const graph = buildGraph(IMAGE, [conv("data", "y", 4, true)]);
    expect(() => optimise(graph, { input: "image", outputs: { y: ["y"] } })).toThrow(
      "the input is data, not image",
    );
  });

  it("to replace a padding of a residual block by anything but channels", () => {
    const pads = intTensor("pads", [0, 0, 0, 0, 0, 1, 1, 0]);
    const pad: Part = { nodes: [createNode("Pad", ["data", "pads"], "p")], weights: [pads] };
    refuse(buildGraph(IMAGE, [pad, pointwise("data", "c", 4), add("p", "c")])).toThrow(
      "p pads more than channels",
    );
  });

  it("a batch norm with nothing to fold into", () => {
    const relu: Part = { nodes: [createNode("Relu", ["data"], "r")], weights: [] };
    refuse(buildGraph(IMAGE, [relu, norm("r", "y", 3)])).toThrow("cannot fold y");
  });

  it("a batch norm after a convolution that another node reads too", () => {
    const sum: Part = { nodes: [createNode("Add", ["c", "n"], "y")], weights: [] };
    refuse(buildGraph(IMAGE, [conv("data", "c", 4, true), norm("c", "n", 4), sum])).toThrow("cannot fold n");
  });

  it("a batch norm after a convolution that is an output too", () => {
    const graph = buildGraph(IMAGE, [conv("data", "c", 4, true), norm("c", "y", 4)], ["c", "y"]);
    refuse(graph, { raw: ["c"], y: ["y"] }).toThrow("cannot fold y");
  });

  it("a batch norm before a flattened value that is read by more than matrix products", () => {
    const relu: Part = { nodes: [createNode("Relu", ["f"], "z")], weights: [] };
    const parts = [norm("data", "n", 3), flatten("n", "f"), gemm("f", "y", 48, 4), relu];
    refuse(buildGraph(IMAGE, parts, ["y", "z"]), { y: ["y"], z: ["z"] }).toThrow("cannot fold n");
  });

  it("a batch norm before a flattened value that is an output too", () => {
    const parts = [norm("data", "n", 3), flatten("n", "f"), gemm("f", "y", 48, 4)];
    refuse(buildGraph(IMAGE, parts, ["y", "f"]), { y: ["y"], f: ["f"] }).toThrow("cannot fold n");
  });

  it.each([["alpha"], ["beta"]])("to fold into a matrix product with another %s than 1", (name) => {
    const product = gemm("data", "g", 5, 4);
    product.nodes[0]!.attribute.push(floatAttribute(name, 0.5));
    refuse(buildGraph([5], [product, norm("g", "y", 4)])).toThrow("g is scaled");
  });

  it("to fold into a matrix product with a column for each output", () => {
    const product: Part = { nodes: [createNode("Gemm", ["data", "w"], "g")], weights: [weight("w", [5, 4])] };
    refuse(buildGraph([5], [product, norm("g", "y", 4)])).toThrow("g is not transposed");
  });
});

it("leaves the batch open and the other sizes as they are", () => {
  const graph = buildGraph(IMAGE, [conv("data", "y", 4, true)]);
  graph.input = [floatValue("data", [1, ...IMAGE])];
  const { input } = optimise(graph, { input: "data", outputs: { y: ["y"] } });
  expect(input[0]!.type?.tensorType?.shape?.dim.map(({ size }) => size.value)).toEqual(["N", 3n, 4n, 4n]);
});

it("accepts red, green, blue from 0 to 255 for a graph that expects blue, green, red from 0 to 1", async () => {
  const before = writeOnnx(buildGraph(IMAGE, [conv("data", "y", 4, true)]));
  const names = { input: "data", outputs: { y: ["y"] }, isBgr: true, white: 1 };
  const after = writeOnnx(optimise(readOnnx(before), names));
  const shape = [1, ...IMAGE];
  const [red, green, blue] = [1, 2, 3].map((seed) => randomFloats(16, 0, 255, seed));
  const published = concatFloats([blue!, green!, red!]).map((value) => value / 255);
  const expected = await runNetwork(await openNetwork(before), shape, published);
  const actual = await runNetwork(await openNetwork(after), shape, concatFloats([red!, green!, blue!]));
  expect(largestDifference(actual.y!, expected.y!)).toBeLessThanOrEqual(1e-5);
});

/** Optimises a graph, holds its numbers against those of the graph as it was, and gives it. */
async function optimiseAndCompare(
  graph: Graph,
  shape: readonly number[],
  outputs: Names["outputs"] = { y: ["y"] },
  replaced = REPLACED,
): Promise<Graph> {
  const before = writeOnnx(graph);
  const optimised = optimise(readOnnx(before), { input: "data", outputs });
  expect(operators(optimised).filter((operator) => replaced.includes(operator))).toEqual([]);
  const length = shape.reduce((product, size) => product * size, BATCH);
  const run = async (bytes: Uint8Array) =>
    runNetwork(await openNetwork(bytes), [BATCH, ...shape], randomFloats(length, -2, 2, 11));
  const expected = await run(before);
  const actual = await run(writeOnnx(optimised));
  expect(Object.keys(actual)).toEqual(Object.keys(outputs));
  for (const [output, parts] of Object.entries(outputs)) {
    const values = joinImages(parts.map((part) => expected[part]!));
    expect(largestDifference(actual[output]!, values), output).toBeLessThanOrEqual(1e-5);
  }
  return optimised;
}

/** All parts of the first image, then all of the second. */
function joinImages(parts: readonly Float32Array[]): Float32Array {
  const image = (i: number) =>
    parts.map((part) => part.subarray((i * part.length) / BATCH, ((i + 1) * part.length) / BATCH));
  return concatFloats(Array.from({ length: BATCH }, (_, i) => image(i)).flat());
}

function operators(graph: Graph): string[] {
  return graph.node.map(({ opType }) => opType);
}

function weightNames(graph: Graph): string[] {
  return graph.initializer.map(({ name }) => name);
}
