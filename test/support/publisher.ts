import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { create } from "tar";

/** Files by their path inside something. */
export type Files = Readonly<Record<string, Uint8Array>>;

/** A server on this machine that serves files and npm packages, and 404 for all else. */
export interface Publisher {
  readonly url: string;
  /** Paths that answer with fewer bytes than they promise. */
  readonly broken: Set<string>;
  serve(path: string, bytes: Uint8Array): string;
  publish(name: string, version: string, files: Files): Promise<void>;
  close(): Promise<void>;
}

/** Opens a publisher on a free port. */
export async function openPublisher(): Promise<Publisher> {
  const served = new Map<string, Uint8Array>();
  const broken = new Set<string>();
  const server = createServer(({ url = "" }, answer) => {
    const bytes = served.get(decodeURIComponent(url));
    if (!bytes) return answer.writeHead(404).end();
    answer.writeHead(200, { "content-length": bytes.length });
    if (!broken.has(url)) return answer.end(bytes);
    answer.write(bytes.subarray(0, bytes.length / 2), () => answer.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const serve = (path: string, bytes: Uint8Array) => {
    served.set(path, bytes);
    return `${url}${path}`;
  };
  return {
    url,
    broken,
    serve,
    async publish(name, version, files) {
      const bytes = await pack(files);
      const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
      const tarball = serve(`/${name}/-/${version}.tgz`, bytes);
      const versions = { [version]: { name, version, dist: { tarball, integrity } } };
      const packument = { name, "dist-tags": { latest: version }, versions };
      serve(`/${name}`, Buffer.from(JSON.stringify(packument)));
    },
    close: () =>
      new Promise((resolve, reject) => {
        server.close((fault) => (fault ? reject(fault) : resolve()));
        server.closeAllConnections();
      }),
  };
}

/** A package as npm stores it: a gzipped tar with everything in the folder `package`. */
async function pack(files: Files): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "visage-publish-"));
  try {
    for (const [path, bytes] of Object.entries(files)) {
      const target = join(folder, "package", path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, bytes);
    }
    await create({ gzip: true, cwd: folder, file: join(folder, "package.tgz") }, ["package"]);
    return await readFile(join(folder, "package.tgz"));
  } finally {
    await rm(folder, { recursive: true });
  }
}
