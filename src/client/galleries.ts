import { type CallOptions, type Client, createClient, type Transport } from "@connectrpc/connect";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import type { ReadFace } from "./analysis.ts";
import type { CallRunner } from "./call-runner.ts";
import { exportFaces } from "./gallery-export.ts";
import { importBatches } from "./gallery-import.ts";
import {
  enrolmentFromMessage,
  expirationMessage,
  exportedPersonFromMessage,
  galleryFaceFromMessage,
  galleryFromMessage,
  identificationFromMessage,
  importRequest,
  personFromMessage,
  receiptFromMessage,
} from "./gallery-messages.ts";
import type { Galleries, GalleryCallOptions, GalleryFace, NewGalleryFace } from "./gallery-types.ts";
import { itemsOfPages, pageOf } from "./pages.ts";
import type { ExportedPerson } from "./person-types.ts";
import { isRejection } from "./retry.ts";
import { visageErrorFromCause } from "./visage-error.ts";

/** What the operations on galleries need. */
export interface GalleriesOptions {
  readonly transport: Transport;
  readonly runner: CallRunner;
  readonly readFace: ReadFace;
  /** Whether the platform can stream requests. */
  readonly canStreamRequests: boolean;
}

/** The largest page, for iterations over all pages. */
const MAX_PAGE_SIZE = 1_000;

/** Creates the operations on galleries. */
export function createGalleries(options: GalleriesOptions): {
  readonly raw: Client<typeof GalleryService>;
  readonly galleries: Galleries;
} {
  const { transport, runner, readFace, canStreamRequests } = options;
  const raw = createClient(GalleryService, transport);
  /** Runs a call whose request needs no preparation. */
  const run = <Request, Response>(
    { signal }: GalleryCallOptions,
    request: Request,
    send: (request: Request, options: CallOptions) => Promise<Response>,
    isIdempotent = true,
  ) => runner.run(signal, { prepare: async () => request, send, isIdempotent });

  async function* streamFaces(galleryId: string, callerSignal?: AbortSignal): AsyncGenerator<GalleryFace> {
    const { controller, end } = runner.open(callerSignal);
    const open = (options: CallOptions) => raw.exportGallery({ galleryId }, options);
    try {
      for await (const face of exportFaces({ open, limits: runner.limits, signal: controller.signal }))
        yield galleryFaceFromMessage(face);
    } finally {
      end();
    }
  }

  const galleries: Galleries = {
    async create(galleryId, options = {}) {
      const { displayName, maxDistance } = options;
      const fields = { ...definedOf({ displayName, maxDistance }), ...expirationMessage(options) };
      const request = { galleryId, ...fields };
      const { gallery } = await run(options, request, raw.createGallery, false);
      return galleryFromMessage(gallery!);
    },

    async get(galleryId, options = {}) {
      const { gallery } = await run(options, { galleryId }, raw.getGallery);
      return galleryFromMessage(gallery!);
    },

    list: (options = {}) =>
      itemsOfPages((pageToken) => galleries.listPage({ ...options, pageSize: MAX_PAGE_SIZE, pageToken })),

    async listPage(options = {}) {
      const { pageSize = 0, pageToken = "" } = options;
      const page = await run(options, { pageSize, pageToken }, raw.listGalleries);
      return pageOf(page.galleries.map(galleryFromMessage), page.nextPageToken);
    },

    async update(galleryId, { displayName, maxDistance, alias, ...expiration }, options = {}) {
      const fields = { ...definedOf({ displayName, maxDistance, alias }), ...expirationMessage(expiration) };
      const request = { galleryId, ...fields };
      const { gallery } = await run(options, request, raw.updateGallery);
      return galleryFromMessage(gallery!);
    },

    async replace(galleryId, successorId, options = {}) {
      const revision = options.revision === undefined ? undefined : BigInt(options.revision);
      const request = { galleryId, successorId, ...definedOf({ revision }) };
      const { gallery } = await run(options, request, raw.replaceGallery, false);
      return galleryFromMessage(gallery!);
    },

    async delete(galleryId, options = {}) {
      await run(options, { galleryId }, deletion(raw.deleteGallery));
    },

    async enrolFace(galleryId, personId, face, options = {}) {
      const { box, faceId, displayName, skipQualityCheck, checkPerson, signal } = options;
      const fields = {
        ...definedOf({ faceId, displayName, skipQualityCheck, checkPerson }),
        ...expirationMessage(options),
      };
      const response = await runner.run(signal, {
        prepare: async (signal) => {
          const source = await readFace(face, box, signal);
          return { galleryId, personId, source, ...fields };
        },
        send: raw.enrolFace,
      });
      return enrolmentFromMessage(response);
    },

    async getPerson(galleryId, personId, options = {}) {
      const { person } = await run(options, { galleryId, personId }, raw.getPerson);
      return personFromMessage(person!);
    },

    listPeople: (galleryId, options = {}) =>
      itemsOfPages((pageToken) =>
        galleries.listPeoplePage(galleryId, { ...options, pageSize: MAX_PAGE_SIZE, pageToken }),
      ),

    async listPeoplePage(galleryId, options = {}) {
      const { pageSize = 0, pageToken = "" } = options;
      const page = await run(options, { galleryId, pageSize, pageToken }, raw.listPeople);
      return pageOf(page.people.map(personFromMessage), page.nextPageToken);
    },

    async updatePerson(galleryId, personId, { displayName, ...expiration }, options = {}) {
      const fields = { ...definedOf({ displayName }), ...expirationMessage(expiration) };
      const { person } = await run(options, { galleryId, personId, ...fields }, raw.updatePerson);
      return personFromMessage(person!);
    },

    async deletePerson(galleryId, personId, options = {}) {
      const receipt = await run(options, { galleryId, personId }, deletion(raw.deletePerson));
      return receipt && receiptFromMessage(receipt);
    },

    async exportPerson(galleryId, personId, options = {}) {
      const read = async (request: { galleryId: string; personId: string }, call: CallOptions) => {
        const found: ExportedPerson[] = [];
        for await (const message of raw.exportPerson(request, call))
          found.push(exportedPersonFromMessage(message));
        return found;
      };
      return run(options, { galleryId, personId }, read);
    },

    async deleteFace(galleryId, personId, faceId, options = {}) {
      await run(options, { galleryId, personId, faceId }, deletion(raw.deleteFace));
    },

    async identify(galleryId, face, { box, maxResults, maxDistance, assumeAdults, quality, signal } = {}) {
      const response = await runner.run(signal, {
        prepare: async (signal) => {
          const source = await readFace(face, box, signal);
          return { galleryId, source, ...definedOf({ maxResults, maxDistance, assumeAdults, quality }) };
        },
        send: raw.identifyFaces,
      });
      return identificationFromMessage(response);
    },

    exportFaces: (galleryId, { signal } = {}) => streamFaces(galleryId, signal),

    async importFaces(galleryId, faces, { signal, onProgress } = {}) {
      if (!canStreamRequests)
        throw new TypeError("A browser cannot stream requests. Call enrolFace with each template.");
      const { controller, end } = runner.open(signal);
      const send = async (batch: readonly NewGalleryFace[]) => {
        const messages = batch.map((face) => importRequest(galleryId, face));
        const request = { signal: controller.signal };
        return run(request, messages, (messages, call) => raw.importFaces(asyncIterable(messages), call));
      };
      try {
        const imported = await importBatches(faces, { send, onProgress, signal: controller.signal });
        // Without a face there was no request that would fail if the gallery does not exist.
        return imported ?? { faceCount: 0, revision: (await galleries.get(galleryId, { signal })).revision };
      } finally {
        end();
      }
    },
  };
  return { raw, galleries };
}

/** Lets a repeated deletion succeed: if the first response was lost, the second time there is nothing to delete. */
function deletion<Request, Response>(
  send: (request: Request, options: CallOptions) => Promise<Response>,
): (request: Request, options: CallOptions) => Promise<Response | undefined> {
  let mayBeDone = false;
  return async (request, options) => {
    try {
      return await send(request, options);
    } catch (cause) {
      const error = visageErrorFromCause(cause);
      if (mayBeDone && error.reason.endsWith("_NOT_FOUND")) return undefined;
      mayBeDone ||= !isRejection(error);
      throw cause;
    }
  };
}

/** Leaves out what is undefined, because a message cannot have such fields. */
function definedOf<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

async function* asyncIterable<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
