// The peer process: what one would build from npm packages without a native build. sharp decodes; face-api detects the
// face with the highest score (SSD MobileNet v1), its 68 landmarks and a descriptor of 128 numbers; a minimal HTTP
// server takes raw image bytes and responds with the descriptor. tfjs is single-threaded in Node, so there is one
// process per CPU core.
import cluster from "node:cluster";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import sharp from "sharp";

/** The parts of tfjs and face-api that are used here. Their own types are not installed. */
interface Tensor {
  dispose(): void;
}
interface Tfjs {
  setBackend(name: string): Promise<boolean>;
  tensor3d(data: Uint8Array, shape: [number, number, number], type: "int32"): Tensor;
}
interface FaceApi {
  readonly nets: Readonly<Record<string, { loadFromDisk(folder: string): Promise<void> }>>;
  detectSingleFace(image: Tensor): {
    withFaceLandmarks(): { withFaceDescriptor(): Promise<{ descriptor: Float32Array } | undefined> };
  };
}

const WARM_UP_CALLS = 5;

const [port, processes, photo, packages] = process.argv.slice(2);
if (cluster.isPrimary) await startProcesses(Number(processes));
else await serve(Number(port), readFileSync(photo!));

async function startProcesses(count: number): Promise<void> {
  process.on("disconnect", () => process.exit());
  const workers = Array.from({ length: count }, () => cluster.fork());
  await Promise.all(workers.map((worker) => once(worker, "listening")));
  process.send!("ready");
}

async function serve(port: number, photo: Buffer): Promise<void> {
  const describe = await openPeer();
  for (let i = 0; i < WARM_UP_CALLS; i++) await describe(photo);
  // Inference blocks the thread for seconds, and the timeouts would then close connections that are in use.
  createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, async (request, response) => {
    const vector = await describe(await buffer(request));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(vector ? { code: "1000", vector } : { code: "3001" }));
  }).listen(port, "127.0.0.1");
}

async function openPeer(): Promise<(image: Buffer) => Promise<number[] | undefined>> {
  const require = createRequire(packages!);
  const tf = require("@tensorflow/tfjs") as Tfjs;
  const { nets, detectSingleFace } = require("@vladmandic/face-api/dist/face-api.node-wasm.js") as FaceApi;
  await tf.setBackend("wasm");
  const models = join(dirname(require.resolve("@vladmandic/face-api/package.json")), "model");
  for (const name of ["ssdMobilenetv1", "faceLandmark68Net", "faceRecognitionNet"])
    await nets[name]!.loadFromDisk(models);
  return async (image) => {
    const { data, info } = await sharp(image).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    const pixels = tf.tensor3d(data, [info.height, info.width, 3], "int32");
    const face = await detectSingleFace(pixels).withFaceLandmarks().withFaceDescriptor();
    pixels.dispose();
    return face && [...face.descriptor];
  };
}
