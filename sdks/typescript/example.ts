// Checks whether two photographs show the same person: node dist/sdks/typescript/example.js HOST:PORT USER_ID ONE TWO
import { readFile } from "node:fs/promises";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";

const [address, userId, ...photos] = process.argv.slice(2);
if (!address || !userId || photos.length !== 2) {
  console.error("usage: example HOST:PORT USER_ID ONE TWO");
  process.exit(1);
}
const [img1, img2] = await Promise.all(photos.map(imageFrom));

const baseUrl = `http://${address}`;
const sessionManager = new Http2SessionManager(baseUrl);
const faces = createClient(FaceService, createGrpcTransport({ baseUrl, sessionManager }));
try {
  const call = { headers: { user_id: userId }, timeoutMs: 30_000 };
  const { data } = await faces.matchFaces({ img1: img1!, img2: img2! }, call);
  console.log(`${data?.status}: ${data?.score}`);
} catch (fault) {
  const error = ConnectError.from(fault);
  const [info] = error.findDetails(ErrorInfoSchema);
  console.error(info?.reason ?? Code[error.code], error.rawMessage);
  process.exitCode = 1;
} finally {
  // An open connection would keep the process alive.
  sessionManager.abort();
}

async function imageFrom(path: string) {
  return { source: { case: "content" as const, value: await readFile(path) } };
}
