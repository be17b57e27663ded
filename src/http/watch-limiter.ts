import { ServiceError } from "../service/service-error.ts";
import { onClose } from "./exchange.ts";
import { LIMITS } from "./limits.ts";
import type { RequestContext } from "./request-context.ts";

/** Limits the number of health watches: they need no account and last as long as their connection. */
export class WatchLimiter {
  readonly #byConnection = new WeakMap<object, number>();
  #total = 0;

  /** Counts a watch until its request ends. Throws ServiceError if there are too many. */
  add({ request, response }: RequestContext): void {
    const connection = ("stream" in request && request.stream.session) || request.socket;
    const onConnection = this.#byConnection.get(connection) ?? 0;
    if (this.#total >= LIMITS.watches) throw new ServiceError("overloaded");
    if (onConnection >= LIMITS.watchesPerConnection)
      throw new ServiceError("tooManyInFlight", "The connection has too many health watches.");
    this.#total++;
    this.#byConnection.set(connection, onConnection + 1);
    onClose(response, () => {
      this.#total--;
      this.#byConnection.set(connection, this.#byConnection.get(connection)! - 1);
    });
  }
}
