import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { codeRequest } from "../../src/web/playground/code-request.ts";
import { OPERATIONS } from "../../src/web/playground/operations.ts";
import { EXAMPLE_FINGERPRINT, EXAMPLE_REQUESTS } from "../../src/web/samples/examples.ts";
import type { OperationId, SampleRequest } from "../../src/web/samples/sample-request.ts";
import { SAMPLE_LANGUAGES } from "../../src/web/samples/samples.ts";
import { startImageServer } from "../support/image-server.ts";
import { photograph } from "../support/images.ts";
import { SAMPLE_RUNNERS, type WrittenSample } from "../support/sample-programs.ts";
import { PHOTOS, runProgram, SDK_TIMEOUT_MS } from "../support/sdk.ts";
import { startTestService, USER } from "../support/service.ts";

const ADMIN_KEY = "admin-key-of-the-code-samples-0123";

/** A name with everything that is special in a shell, in curl, in printf, in JSON or in a string of a language. */
const HOSTILE_NAME = `a "b" it's;,%s%n $HOME \`x\` \\u0041\\.jpg`;

/** The same photo in all languages, with every option and box that the form of a page can set. */
const BOX = [1060, 230, 1310, 510] as const;
const VARIANTS: readonly SampleRequest[] = [
  {
    operation: "matchFaces",
    images: [
      { field: "img_1", file: HOSTILE_NAME, boxes: [BOX] },
      { field: "img_2", file: "one.jpg", boxes: [BOX] },
    ],
    fields: { face_det: false },
  },
  {
    operation: "getImageAttr",
    images: [{ field: "image_attr", file: HOSTILE_NAME, boxes: [BOX] }],
    fields: { face_det: false },
  },
  {
    operation: "getFaceVec",
    images: [{ field: "img", file: HOSTILE_NAME, boxes: [BOX] }],
    fields: { quality: true, face_det: false },
  },
  { operation: "v1AnalyzeImages", images: [{ field: "image", file: HOSTILE_NAME }] },
];

/** The requests of the playground: every operation, without and with selected faces. */
const PLAYGROUND = Object.values(OPERATIONS).flatMap((operation) =>
  [undefined, { x1: BOX[0], y1: BOX[1], x2: BOX[2], y2: BOX[3] }].map((box) => {
    const images = operation.images.map((field, slot) => {
      const photo = { name: slot === 0 ? HOSTILE_NAME : "one.jpg", isAccepted: true };
      return { field, slot, photo, box };
    });
    return codeRequest({ operation, images, features: operation.features });
  }),
);

/** What the output of a sample contains, whatever its language. */
const EXPECTED: Readonly<Partial<Record<OperationId, RegExp>>> = {
  matchFaces: /true|"match"/i,
  getImageAttr: /female/i,
  getFaceVec: /sface-\w+ 128|"vector"/,
  v1AnalyzeImage: /presence|usable|y2|Y2/i,
  v1AnalyzeImages: /(one|two|it's).*[13]/s,
  v1CompareFaces: /true/i,
  v1IdentifyFaces: /ann/,
  v1DeleteFace: /^/,
  v1DeletePerson: /^/,
  v1DeleteGallery: /^/,
  v1ExportGallery: /^/,
  v1ExportPerson: /^/,
};

describe("the code samples", { timeout: SDK_TIMEOUT_MS }, () => {
  let service: RunningService;
  let folder: string;
  beforeAll(async () => {
    service = await startTestService({ VISAGE_ADMIN_KEY: ADMIN_KEY, VISAGE_FETCH_ALLOW: "127.0.0.1" });
    folder = mkdtempSync(join(tmpdir(), "visage-samples-"));
    for (const name of ["one.jpg", "two.jpg", "photo.jpg", HOSTILE_NAME])
      copyFileSync(join(PHOTOS, "sample3.jpg"), join(folder, name));
  });
  afterAll(async () => {
    await service?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  describe.each(SAMPLE_RUNNERS.filter(({ wanted }) => wanted))("in $language", ({ language, prepare }) => {
    // A client gives up if the machine pauses for longer than its connection timeout.
    test("run against the service", { retry: 1 }, async () => {
      const address = `http://127.0.0.1:${service.port}`;
      const { port } = await startImageServer((_, response) => response.end(photograph(3)));
      const url = `http://127.0.0.1:${port}/it's%20one;.jpg?size=%25`;
      const variantWithUrl: SampleRequest = {
        operation: "getImageAttr",
        images: [{ field: "image_attr", file: "photo.jpg", url }],
      };
      const { write } = SAMPLE_LANGUAGES.find(({ id }) => id === language)!;
      const samples = [
        ...EXAMPLE_REQUESTS.map((request) => ({ request, code: write(request, { address }) })),
        // A key in the code instead of the environment.
        ...[...VARIANTS, ...PLAYGROUND, variantWithUrl].map((request) => ({
          request,
          code: write(request, { address, key: USER }),
        })),
      ].flatMap(({ request, code }, i): WrittenSample[] =>
        code === undefined ? [] : [{ name: `sample${i}`, request, code }],
      );
      // Left by another language.
      for (const { linesFile } of EXAMPLE_REQUESTS)
        if (linesFile) rmSync(join(folder, linesFile), { force: true });
      const headers = { authorization: `Bearer ${USER}` };
      await fetch(`${address}/v1/galleries/staff`, { method: "DELETE", headers });
      const sources = join(folder, language);
      mkdirSync(sources, { recursive: true });
      const env = {
        VISAGE_KEY: USER,
        VISAGE_ADMIN_KEY: ADMIN_KEY,
        PYTHONPATH: join(PACKAGE_ROOT, "sdks/python/src"),
      };
      const execute = await prepare(sources, samples, (program, args) =>
        runProgram(folder, program, args, env),
      );
      let fingerprint = EXAMPLE_FINGERPRINT;
      for (const sample of samples) {
        // The examples before it have deleted the gallery.
        if (sample.request.operation === "v1ReplaceGallery")
          for (const galleryId of ["staff", "staff-next"])
            await fetch(`${address}/v1/galleries`, {
              method: "POST",
              headers: { ...headers, "content-type": "application/json" },
              body: JSON.stringify({ galleryId }),
            });
        const output = await execute({
          ...sample,
          code: sample.code.replaceAll(EXAMPLE_FINGERPRINT, fingerprint),
        });
        fingerprint = newestFingerprint(output) ?? fingerprint;
        const { operation, linesFile } = sample.request;
        expect(output, sample.code).toMatch(EXPECTED[operation] ?? /./);
        // Samples for the shell write a file, and programs print the faces.
        const file = join(folder, linesFile ?? "");
        if (operation === "v1ExportGallery" || operation === "v1ExportPerson")
          expect(existsSync(file) ? readFileSync(file, "utf8") : output).toMatch(/\bann\b/);
      }
      expect(samples.length).toBeGreaterThan(10);
    });
  });
});

/** The fingerprint of the key that a response contains: those of a list are in the order of creation. */
function newestFingerprint(output: string): string | undefined {
  return output.includes('"keys"')
    ? [...output.matchAll(/"fingerprint":\s*"(\w+)"/g)].map(([, found]) => found).at(-1)
    : undefined;
}
