// The rows of galleries in Milvus: one for each face, and one for each gallery, which says how far the others are.
// Someone who has only Milvus learns no id: they are digests, or encrypted. Both are made with the key of the gallery,
// which is random and only in the database.
import { createHash, createSecretKey, type KeyObject } from "node:crypto";
import { DataType } from "../../../gen/ts/milvus/milvus_pb.ts";
import { DIMENSIONS } from "../../search/assembly/constants.ts";
import { decrypt, encrypt } from "../aes-gcm.ts";
import type { FaceIdentity } from "../gallery-store.ts";
import { markOf, secretPartOf } from "../removal-mark.ts";
import type { Collection, MilvusIndex } from "./milvus-collections.ts";
import { type Column, texts, vectors } from "./milvus-columns.ts";

const varChar = (name: string, maxLength: number) => ({
  name,
  dataType: DataType.VAR_CHAR,
  typeParams: [{ key: "max_length", value: String(maxLength) }],
});
const vector = (name: string, dim: number) => ({
  name,
  dataType: DataType.FLOAT_VECTOR,
  typeParams: [{ key: "dim", value: String(dim) }],
});
const integer = (name: string) => ({ name, dataType: DataType.INT64 });

/** The collection with the templates of a model. */
export function templatesOf(model: string, index: MilvusIndex): Collection {
  return {
    name: nameOf(model),
    fields: [
      { ...varChar("id", 32), isPrimaryKey: true },
      { ...varChar("gallery", 64), isPartitionKey: true },
      varChar("person", 32),
      varChar("ids", 512),
      vector("embedding", DIMENSIONS),
    ],
    vectorField: "embedding",
    index,
  };
}

/** The collection with a row for each gallery of a model. */
export function progressOf(model: string): Collection {
  return {
    name: `${nameOf(model)}_progress`,
    fields: [
      { ...varChar("gallery", 64), isPrimaryKey: true },
      ...["until", "revision", "timestamp"].map(integer),
      varChar("token", 64),
      // Every collection must have a vector.
      vector("unused", 2),
    ],
    vectorField: "unused",
    index: "FLAT",
  };
}

function nameOf(model: string): string {
  return `visage_${model.replaceAll(/[^A-Za-z0-9]/g, "_")}`;
}

/** Encrypts the ids of faces, given as `person/face`. */
export class IdCipher {
  readonly #key: KeyObject;

  constructor(galleryKey: string) {
    this.#key = createSecretKey(digest(`ids/${galleryKey}`));
  }

  encrypt(ids: string): string {
    return encrypt(this.#key, Buffer.from(ids), NOTHING).toString("base64url");
  }

  decrypt(text: string): string {
    return decrypt(this.#key, Buffer.from(text, "base64url"), NOTHING).toString();
  }
}

const NOTHING = new Uint8Array();

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

export function galleryDigest(key: string): string {
  return digest(`gallery/${key}`).toString("hex");
}

/** The condition for the rows of a gallery. */
export function inGallery(key: string): string {
  return `gallery == "${galleryDigest(key)}"`;
}

/** Splits `person/face`. */
export function identityFrom(ids: string): FaceIdentity {
  const [personId, faceId] = ids.split("/");
  return { personId: personId!, faceId: faceId! };
}

/** The primary key of a face, given as `person/face`. The mark of its removal has it. */
export function rowIdOf(galleryKey: string, ids: string): string {
  const { personId, faceId } = identityFrom(ids);
  return secretPartOf(markOf(galleryKey, personId, faceId));
}

/** Makes the list of an expression. All texts are hexadecimal. */
export function listOf(texts: readonly string[]): string {
  return JSON.stringify(texts);
}

/** Splits the ids of packed templates. */
export function idsOf(ids: Uint8Array): string[] {
  return ids.length === 0 ? [] : Buffer.from(ids).toString().split(",");
}

/** Makes the rows of faces, given as `person/face`, with their templates. */
export function columnsOf(galleryKey: string, faces: readonly string[], numbers: Float32Array): Column[] {
  const cipher = new IdCipher(galleryKey);
  return [
    texts(
      "id",
      faces.map((ids) => rowIdOf(galleryKey, ids)),
    ),
    texts(
      "gallery",
      faces.map(() => galleryDigest(galleryKey)),
    ),
    texts(
      "person",
      faces.map((ids) => secretPartOf(markOf(galleryKey, identityFrom(ids).personId))),
    ),
    texts(
      "ids",
      faces.map((ids) => cipher.encrypt(ids)),
    ),
    vectors("embedding", [...numbers], DIMENSIONS),
  ];
}
