import type { KeyObject } from "node:crypto";
import { DIMENSIONS } from "../search/assembly/constants.ts";
import { decrypt, encrypt, OVERHEAD_BYTES } from "./aes-gcm.ts";
import type { FaceIdentity } from "./gallery-store.ts";

/** The length of a template that is not encrypted, and of one that is: the length tells both kinds apart. */
export const PLAIN_BYTES = 4 * DIMENSIONS;
export const ENCRYPTED_BYTES = PLAIN_BYTES + OVERHEAD_BYTES;

/** No ids are longer: two of 128 characters, and the key of the gallery. */
const MAX_CONTEXT_BYTES = 512;

/** A template or a data key that cannot be decrypted. The message names it for the administrator. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

/** Throws a TemplateError again. Any other error may mean only that the database cannot be reached for a while. */
export function rethrowTemplateError(error: unknown): undefined {
  if (error instanceof TemplateError) throw error;
}

/** Encrypts the templates of a gallery with the data key of its user. Each is bound to its gallery, person and face. */
export class TemplateCipher {
  readonly #key: KeyObject;
  /** The key of the gallery and a slash, then the ids of a face. */
  readonly #context = Buffer.alloc(MAX_CONTEXT_BYTES);
  readonly #prefixLength: number;

  constructor(dataKey: KeyObject, galleryKey: string) {
    this.#key = dataKey;
    this.#prefixLength = this.#context.write(`${galleryKey}/`);
  }

  /** Encrypts a template. */
  encrypt({ personId, faceId }: FaceIdentity, template: Uint8Array): Buffer {
    return encrypt(this.#key, template, this.#contextOf(Buffer.from(`${personId}/${faceId}`)));
  }

  /** Decrypts a template of the face with the ids `person/face`. Throws TemplateError. */
  decrypt(ids: Uint8Array, template: Uint8Array): Buffer {
    try {
      return decrypt(this.#key, template, this.#contextOf(ids));
    } catch (error) {
      throw new TemplateError(
        `The template ${this.#contextOf(ids)} cannot be decrypted: it was damaged, or is that of another face`,
        { cause: error },
      );
    }
  }

  #contextOf(ids: Uint8Array): Buffer {
    this.#context.set(ids, this.#prefixLength);
    return this.#context.subarray(0, this.#prefixLength + ids.length);
  }
}

/** Templates that a database has concatenated. */
export interface ConcatenatedTemplates {
  /** For each, the ids of person and face as `person/face`. Separated by commas. */
  readonly ids: Uint8Array;
  readonly templates: Uint8Array;
  /** For each, the character 0 if it has PLAIN_BYTES, 1 if it has ENCRYPTED_BYTES, and another one otherwise. */
  readonly flags: Uint8Array;
}

const [ZERO, ONE, COMMA] = [0x30, 0x31, 0x2c];

/** Decrypts those templates that are encrypted. Throws TemplateError. */
export function decryptAll(
  { ids, templates, flags }: ConcatenatedTemplates,
  openCipher: () => TemplateCipher,
): Float32Array {
  // Copied, because the bytes of a driver need not be aligned for floats.
  if (flags.every((flag) => flag === ZERO)) return new Float32Array(new Uint8Array(templates).buffer);
  const cipher = openCipher();
  const plain = new Uint8Array(flags.length * PLAIN_BYTES);
  let [idsStart, start] = [0, 0];
  for (const [i, flag] of flags.entries()) {
    const comma = ids.indexOf(COMMA, idsStart);
    const idsEnd = comma < 0 ? ids.length : comma;
    // One of another length cannot be decrypted.
    const end = start + (flag === ZERO ? PLAIN_BYTES : flag === ONE ? ENCRYPTED_BYTES : 0);
    const template = templates.subarray(start, end);
    const own = ids.subarray(idsStart, idsEnd);
    plain.set(flag === ZERO ? template : cipher.decrypt(own, template), i * PLAIN_BYTES);
    [idsStart, start] = [idsEnd + 1, end];
  }
  return new Float32Array(plain.buffer);
}
