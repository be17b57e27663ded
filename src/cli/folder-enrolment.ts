import { createHash } from "node:crypto";
import { type Expiration, type Galleries, VisageError } from "../client/visage-client.ts";
import type { Config } from "../config.ts";
import type { FoundPhoto } from "./find-photos.ts";
import { mapInOrder } from "./map-in-order.ts";
import { findPersonPhotos, type PersonFolder } from "./person-folders.ts";
import { fileErrorReason, readPhoto } from "./photo-file.ts";
import type { ProgressBar } from "./progress-bar.ts";
import { isLastingError, MAX_IN_FLIGHT } from "./service-client.ts";

/** Options of the enrolment of a folder. */
export interface FolderEnrolmentOptions {
  readonly galleries: Galleries;
  readonly galleryId: string;
  /** The faces that the gallery has: their ids by the id of the person. */
  readonly known: ReadonlyMap<string, ReadonlySet<string>>;
  readonly skipQualityCheck: boolean;
  /** Whether faces are compared with the gallery first, if the key may search it. */
  readonly checkPerson: boolean;
  /** When the people expire whose photos are enrolled. */
  readonly expiration?: Expiration;
  readonly config: Config;
  readonly progress: ProgressBar;
  /** Ends the enrolment. */
  readonly signal: AbortSignal;
}

/** What became of photos. */
export interface EnrolmentResult {
  enrolled: number;
  /** Photos that were enrolled before. */
  known: number;
  readonly failures: PhotoFailure[];
}

/** A photo that could not be enrolled. */
export interface PhotoFailure {
  readonly file: string;
  readonly error: string;
}

/** A person whose photos are being enrolled. */
interface EnrolledPerson {
  readonly personId: string;
  /** The name to set, if any. */
  readonly displayName: string | undefined;
  readonly faceIds: Set<string>;
  /** The error of a person who has as many faces as the service takes. */
  full: VisageError | undefined;
}

/** Characters of a face id: enough that no two photos of a person share one. */
const FACE_ID_LENGTH = 32;
/** People whose photos are enrolled at the same time. */
const LIMITS = { concurrency: MAX_IN_FLIGHT, maxPending: 8 * MAX_IN_FLIGHT };

/** Enrols the photos of people in a gallery. The id of a face is made from the digest of its file. */
export class FolderEnrolment {
  readonly #options: FolderEnrolmentOptions;
  readonly #stop = new AbortController();
  #failure: VisageError | undefined;
  #checkPerson: boolean;

  constructor(options: FolderEnrolmentOptions) {
    this.#options = options;
    this.#checkPerson = options.checkPerson;
  }

  /** The error that has ended the enrolment early, because every further photo would have it. */
  get failure(): VisageError | undefined {
    return this.#failure;
  }

  /** Enrols people in parallel, and yields the result of each, in order. Never throws. */
  async *run(people: readonly PersonFolder[]): AsyncGenerator<EnrolmentResult> {
    const { signal } = this.#options;
    const onAbort = () => this.#stop.abort(signal.reason);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    try {
      yield* mapInOrder(iterate(people), LIMITS, (folder) => this.#enrolPerson(folder));
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /**
   * Enrols the photos of a person one after the other. So the first ones are enrolled if there are more than the service
   * takes, even if the run was killed and repeated.
   */
  async #enrolPerson(folder: PersonFolder): Promise<EnrolmentResult> {
    const { known, config, progress } = this.#options;
    const { personId, displayName } = folder;
    const before = known.get(personId);
    const person: EnrolledPerson = {
      personId,
      // The user may have renamed a person who is enrolled already.
      displayName: before ? undefined : displayName || undefined,
      faceIds: new Set(before),
      full: undefined,
    };
    const result: EnrolmentResult = { enrolled: 0, known: 0, failures: [] };
    const { signal } = this.#stop;
    for await (const photo of findPersonPhotos(folder.folder, { formats: config.imageFormats, signal })) {
      if (signal.aborted) break;
      await this.#enrolPhoto(photo, person, result);
      progress.advance();
    }
    return result;
  }

  async #enrolPhoto(
    { file, error }: FoundPhoto,
    person: EnrolledPerson,
    result: EnrolmentResult,
  ): Promise<void> {
    if (error !== undefined) {
      result.failures.push({ file, error });
      return;
    }
    try {
      if (await this.#enrolFile(file, person)) result.enrolled++;
      else result.known++;
    } catch (cause) {
      if (isLastingError(cause)) this.#fail(cause);
      if (this.#stop.signal.aborted) return;
      if (cause instanceof VisageError && cause.reason === "TOO_MANY_FACES_OF_PERSON") person.full = cause;
      result.failures.push({ file, error: fileErrorReason(cause) });
    }
  }

  /** Enrols a file. Returns false if it is enrolled already. */
  async #enrolFile(file: string, person: EnrolledPerson): Promise<boolean> {
    const { galleries, galleryId, config, skipQualityCheck } = this.#options;
    const { personId, displayName, faceIds } = person;
    const bytes = await readPhoto(file, config);
    const faceId = faceIdOf(bytes);
    if (faceIds.has(faceId)) return false;
    if (person.full) throw person.full;
    const { signal } = this.#stop;
    const options = { faceId, displayName, skipQualityCheck, ...this.#options.expiration, signal };
    const enrol = (checkPerson: boolean) =>
      galleries.enrolFace(galleryId, personId, bytes, { ...options, checkPerson });
    const isChecked = this.#checkPerson;
    await enrol(isChecked).catch((error: unknown) => {
      if (!isChecked || !isRefusal(error)) throw error;
      this.#checkPerson = false;
      return enrol(false);
    });
    faceIds.add(faceId);
    return true;
  }

  #fail(error: VisageError): void {
    if (this.#stop.signal.aborted) return;
    this.#failure = error;
    this.#stop.abort(error);
  }
}

/** Whether the key lacks a permission. */
function isRefusal(error: unknown): boolean {
  return error instanceof VisageError && ["SCOPE_MISSING", "PURPOSE_DISABLED"].includes(error.reason);
}

/** Makes the id of a face from its photo. */
function faceIdOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, FACE_ID_LENGTH);
}

/** Makes the ids of the faces in a folder. Photos that cannot be read are reported when they are enrolled. */
export async function* readFaceIds(
  folder: string,
  config: Config,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for await (const { file, error } of findPersonPhotos(folder, { formats: config.imageFormats, signal })) {
    const bytes = error === undefined ? await readPhoto(file, config).catch(() => undefined) : undefined;
    if (bytes) yield faceIdOf(bytes);
  }
}

async function* iterate<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
