import type { Embedding as EmbeddingMessage } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { EMBEDDING_NORM, EMBEDDING_SIZE, type Embedding } from "../core/index.ts";
import { ServiceError } from "./service-error.ts";

/** How far the norm of an embedding may be off, for embeddings that were stored with few decimals. */
const NORM_TOLERANCE = 0.01;

/** Throws ServiceError `badRequest` about a field. `problem` completes the sentence "The field x ...". */
export function requireValid(field: string, isValid: boolean, problem: string): void {
  if (!isValid) throw new ServiceError("badRequest", `The field ${field} ${problem}.`, { field });
}

/** Makes the error of a missing field. */
export function missingError(field: string): ServiceError {
  return new ServiceError("badRequest", `The field ${field} is missing.`, { field });
}

/** Converts an embedding of this model. Throws ServiceError `modelMismatch` for another model, or `badRequest`. */
export function embeddingFrom(
  field: string,
  { values, model: madeBy }: EmbeddingMessage,
  model: string,
): Embedding {
  if (madeBy === "") throw missingError(`${field}.model`);
  if (madeBy !== model) {
    const text = `The embedding in ${field} was made by the model ${quote(madeBy)} and this service has ${model}.`;
    throw new ServiceError("modelMismatch", text, { field, metadata: { embedding: madeBy, service: model } });
  }
  requireValid(`${field}.values`, values.length === EMBEDDING_SIZE, `must have ${EMBEDDING_SIZE} numbers`);
  const isOwn = Math.abs(Math.hypot(...values) - EMBEDDING_NORM) <= NORM_TOLERANCE;
  requireValid(`${field}.values`, isOwn, `must have the norm ${EMBEDDING_NORM} as returned`);
  return Float32Array.from(values);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
