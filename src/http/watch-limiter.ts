import { ServiceError } from "../service/service-error.ts";
import { onClose } from "./exchange.ts";
import { LIMITS } from "./limits.ts";
import type { RequestContext } from "./request-context.ts";

/** Limits the streams that watch health, which last as long as their connection and need no account. */
export class WatchLimiter {
  readonly #byConnection = new WeakMap<object, number>();
  #total = 0;

  /** Counts a stream until its request ends. Throws ServiceError where there are too many. */
  add({ request, response }: RequestContext): void {
    const connection = ("stream" in request && request.stream.session) || request.socket;
    const ofConnection = this.#byConnection.get(connection) ?? 0;
    if (this.#total >= LIMITS.watches) throw new ServiceError("overloaded");
    if (ofConnection >= LIMITS.watchesPerConnection)
      throw new ServiceError("tooManyInFlight", "The connection has too many streams that watch health.");
    this.#total++;
    this.#byConnection.set(connection, ofConnection + 1);
    onClose(response, () => {
      this.#total--;
      this.#byConnection.set(connection, this.#byConnection.get(connection)! - 1);
    });
  }
}
