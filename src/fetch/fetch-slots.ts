import { FetchError } from "./fetch-error.ts";

/** The maximum number of fetches in flight. */
export const MAX_FETCHES = 64;
/** The maximum number of fetches in flight of one caller. */
export const MAX_FETCHES_PER_CALLER = 8;

/** Limits the number of fetches in flight, in total and per caller. */
export class FetchSlots {
  #taken = 0;
  readonly #takenBy = new Map<string, number>();

  /**
   * Takes a slot and returns the function that frees it, which must be called exactly once. Throws FetchError
   * `tooManyPerCaller` or `tooMany` if there is none. A fetch without a caller counts in the total only.
   */
  take(caller: string | undefined): () => void {
    const taken = (caller !== undefined && this.#takenBy.get(caller)) || 0;
    if (taken >= MAX_FETCHES_PER_CALLER) throw tooManyPerCallerError();
    if (this.#taken >= MAX_FETCHES) throw tooManyError();
    this.#taken++;
    if (caller !== undefined) this.#takenBy.set(caller, taken + 1);
    return () => this.#free(caller);
  }

  #free(caller: string | undefined): void {
    this.#taken--;
    if (caller === undefined) return;
    const left = this.#takenBy.get(caller)! - 1;
    if (left > 0) this.#takenBy.set(caller, left);
    else this.#takenBy.delete(caller);
  }
}

function tooManyPerCallerError(): FetchError {
  return new FetchError(
    "tooManyPerCaller",
    `At most ${MAX_FETCHES_PER_CALLER} images of one user are fetched by URL at the same time.`,
  );
}

function tooManyError(): FetchError {
  return new FetchError("tooMany", "The service is fetching too many images by URL at the moment.");
}
