import { availableParallelism } from "node:os";
import { createSqlStore } from "../../src/accounts/sql-store.ts";
import { findUserByKeyOrName } from "../../src/accounts/users.ts";
import { readCalibration } from "../../src/core/index.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import { MAX_ENROLMENT_BATCH } from "../../src/galleries/gallery-store.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { USER } from "../../tools/support/service-process.ts";
import type { Operation } from "../load/load.ts";
import type { Photos } from "../load/photos.ts";
import { measureSpeed, WARM_UP_SECONDS } from "../load/run-load.ts";
import { countSocketBytes, type SocketBytes } from "../load/socket-bytes.ts";
import { randomTemplates } from "../templates.ts";
import { callInLoop } from "./call-loop.ts";
import type { RequestCost } from "./costs.ts";

/** A kind of request whose cost is measured. */
export interface Case extends Pick<RequestCost, "operation" | "input" | "images"> {
  /** Sends requests for some seconds. Returns how many, and what they cost the load generator. */
  run(port: number): Promise<{ readonly requests: number; readonly cpuMs: number } & SocketBytes>;
}

const SECONDS = 6;
const QUERIES = 64;
/** Sizes of the galleries that are searched. */
const GALLERY_FACES = [1_000, 100_000];
/** The same for galleries and queries: each query finds its person, as most do in practice. */
const SEED = 1;
const { model } = readCalibration();

/** The operations on photos. */
export function photoCases({ oneFace, fiveFaces, otherPerson }: Photos): Case[] {
  const create = (operation: Operation, input: string, ...images: readonly string[]): Case => ({
    operation,
    input,
    images: images.length,
    run: (port) =>
      measureSpeed(
        { port, userId: USER, mix: [{ protocol: "multipart", operation, images }] },
        { inFlight: 2 * availableParallelism(), seconds: SECONDS },
      ),
  });
  const [small, large] = ["640x480, one face", "1920x1280, five faces"];
  return [
    create("get_face_vec", small, oneFace("640x480")),
    create("get_face_vec", large, fiveFaces("1920x1280")),
    create("get_image_attr", small, oneFace("640x480")),
    create("get_image_attr", large, fiveFaces("1920x1280")),
    create("match_faces", "two of 640x480, one face each", oneFace("640x480"), otherPerson),
  ];
}

/** The operations on embeddings, which need no worker. Fills the galleries that they search, and warms the service up. */
export async function embeddingCases(databaseUrl: string, port: number): Promise<Case[]> {
  const socketBytes = countSocketBytes();
  const create = async (
    operation: string,
    input: string,
    path: string,
    bodies: readonly string[],
  ): Promise<Case> => {
    // Also reads the gallery into memory.
    await callInLoop(port, path, bodies, WARM_UP_SECONDS);
    return {
      operation,
      input,
      images: 0,
      run: async () => {
        const before = socketBytes();
        const requests = await callInLoop(port, path, bodies, SECONDS);
        const after = socketBytes();
        const bytesSent = after.bytesSent - before.bytesSent;
        return { requests, cpuMs: 0, bytesSent, bytesReceived: after.bytesReceived - before.bytesReceived };
      },
    };
  };
  const sources = [...randomTemplates(QUERIES, SEED)].map((values) => ({
    embedding: { values: [...values], model },
  }));
  await Promise.all(GALLERY_FACES.map((faces) => fillGallery(databaseUrl, faces)));
  const compared = sources.map((source, i) => JSON.stringify({ source, target: sources.at(i - 1) }));
  const searches = sources.map((source) => JSON.stringify({ source, maxDistance: 0.5 }));
  return Promise.all([
    create("compare_faces of visage.v1", "two embeddings", "/v1/faces:compare", compared),
    ...GALLERY_FACES.map((faces) =>
      create(
        "identify_faces",
        `an embedding, ${faces.toLocaleString("en")} faces`,
        `/v1/galleries/sizing-${faces}:identify`,
        searches,
      ),
    ),
  ]);
}

async function fillGallery(databaseUrl: string, faces: number): Promise<void> {
  const database = await openDatabase({ databaseUrl, dataDir: "" });
  const { id: userId } = await findUserByKeyOrName(createSqlStore(database), USER);
  const store = createSqlGalleryStore(database);
  const id = `sizing-${faces}`;
  await store.createGallery(userId, { id, displayName: "", model, maxDistance: undefined }, {});
  const people = [...randomTemplates(faces, SEED)].map((embedding, i) => ({
    personId: `p${i}`,
    faceId: "f",
    embedding,
  }));
  for (let i = 0; i < faces; i += MAX_ENROLMENT_BATCH)
    await store.enrolFaces(userId, id, model, people.slice(i, i + MAX_ENROLMENT_BATCH), {});
  await database.close();
}
