import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Environment } from "../../src/config.ts";
import type { SqlDatabase } from "../../src/database/sql-database.ts";
import type { Gallery, GalleryStore } from "../../src/galleries/gallery-store.ts";
import type { MilvusSettings } from "../../src/galleries/milvus/milvus-client.ts";
import { type MilvusEngine, openMilvus } from "../../src/galleries/milvus/open-milvus.ts";
import { DIMENSIONS } from "../../src/search/assembly/constants.ts";
import { freePort } from "../../tools/support/free-port.ts";
import { findTools } from "./tools.ts";

/** A temporary server with the API of Milvus on this machine. */
export interface TestMilvus {
  readonly url: string;
  readonly settings: MilvusSettings;
  /** The settings of a service that uses it. */
  readonly env: Environment & Readonly<Record<string, string>>;
  /** Starts the server again, with the same URL and data. */
  start(): Promise<void>;
  kill9(): Promise<void>;
  /** Lets the server keep its connections and answer nothing, or go on. */
  pause(): void;
  resume(): void;
  /** Removes all data of the server, which must not be running. */
  clear(): void;
  /** Stops the server and removes its files. */
  remove(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;

const { wanted, paths } = findTools("milvus-lite");

/** Whether to run the tests: false if the server is missing, except in CI, where the tests fail. */
export const hasMilvus = wanted;

/** Starts an empty server. It is ready when the promise resolves. */
export async function startMilvus(): Promise<TestMilvus> {
  const folder = mkdtempSync(join(tmpdir(), "visage-milvus-"));
  const port = await freePort();
  let server: ChildProcess | undefined;
  const end = async (signal: NodeJS.Signals) => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const exit = once(server, "exit");
    server.kill(signal);
    await exit;
  };
  const start = async () => {
    const args = ["server", "--data-dir", folder, "--host", "127.0.0.1", "--port", String(port)];
    server = spawn(paths["milvus-lite"], args, { stdio: "ignore" });
    await once(server, "spawn");
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await canConnect(port))) {
      if (Date.now() > deadline || server.exitCode !== null) throw new Error("Milvus does not start.");
      await sleep(50);
    }
  };
  const url = `http://127.0.0.1:${port}`;
  process.once("exit", () => server?.kill("SIGKILL"));
  await start();
  return {
    url,
    settings: { url, token: undefined, ca: undefined, database: "default", index: "FLAT" },
    env: { VISAGE_GALLERY_ENGINE: "milvus", VISAGE_MILVUS_URL: url },
    start,
    kill9: () => end("SIGKILL"),
    pause: () => server?.kill("SIGSTOP"),
    resume: () => server?.kill("SIGCONT"),
    clear: () => rmSync(folder, { recursive: true }),
    remove: async () => {
      await end("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What Milvus has of a gallery, compared with a store. */
export interface Comparison {
  /** Rows in Milvus. */
  readonly rows: number;
  /** Faces of the database, and how many of them Milvus has exactly as they are. */
  readonly faces: number;
  readonly equal: number;
}

/** Compares what Milvus has of a gallery with the database, face by face. */
export async function compare(
  { templates }: MilvusEngine,
  store: GalleryStore,
  gallery: Pick<Gallery, "key" | "model">,
): Promise<Comparison> {
  let [faces, equal] = [0, 0];
  let after: { readonly personId: string; readonly faceId: string } | undefined;
  for (;;) {
    const page = await store.readFaces(gallery.key, { after, size: 1_000 });
    if (page.length === 0) return { rows: await templates.countFaces(gallery), faces, equal };
    const embeddings = new Float32Array(page.length * DIMENSIONS);
    for (const [i, { embedding }] of page.entries()) embeddings.set(embedding, i * DIMENSIONS);
    const ids = Buffer.from(page.map(({ personId, faceId }) => `${personId}/${faceId}`).join(","));
    equal += (await templates.compare(gallery, { ids, embeddings })).equal;
    faces += page.length;
    after = page.at(-1);
  }
}

/** Opens the parts that search galleries by a server. */
export function openEngine(
  { settings }: Pick<TestMilvus, "settings">,
  parts: { readonly store: GalleryStore; readonly database: SqlDatabase },
): MilvusEngine {
  return openMilvus(settings, parts);
}

async function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
