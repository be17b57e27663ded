import { EventEmitter, once } from "node:events";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import {
  Health as HealthService,
  HealthCheckResponse_ServingStatus as Status,
} from "../../gen/ts/health/v1/health_pb.ts";

/** The health of the process: the switch that the program turns, and the service that tells others. */
export interface Health {
  /** Adds grpc.health.v1.Health to a router. */
  routes(router: ConnectRouter): void;
  /** Tells whether requests are welcome now. Changes nothing once closed. */
  setServing(serving: boolean): void;
  readonly serving: boolean;
  /** For the drain: not serving from now on, for good. Every watch is told so and ends. */
  close(): void;
}

/**
 * Creates the health of a process that serves these services, given by their full names. It starts as
 * not serving. All services share one status, which is also that of the empty name, the whole server.
 */
export function createHealth(services: readonly string[]): Health {
  const names = ["", ...services];
  // Any number may watch: the warning about many listeners would be wrong here.
  const changes = new EventEmitter().setMaxListeners(0);
  let serving = false;
  let closed = false;

  const status = () => (serving ? Status.SERVING : Status.NOT_SERVING);

  /** A watcher that reads slowly is told the newest status, not each one that it missed. */
  async function* watch(service: string, signal: AbortSignal) {
    let told: Status | undefined;
    while (!signal.aborted) {
      const current = names.includes(service) ? status() : Status.SERVICE_UNKNOWN;
      if (current !== told) {
        told = current;
        yield { status: current };
      } else if (closed) {
        return;
      } else {
        // Rejects only when the client has left, which the loop sees by itself.
        await once(changes, "change", { signal }).catch(() => undefined);
      }
    }
  }

  return {
    routes(router) {
      router.service(HealthService, {
        check({ service }) {
          if (!names.includes(service)) throw new ConnectError("unknown service", Code.NotFound);
          return { status: status() };
        },
        watch: ({ service }, { signal }) => watch(service, signal),
        list: () => ({ statuses: Object.fromEntries(names.map((name) => [name, { status: status() }])) }),
      });
    },
    setServing(value) {
      if (closed) return;
      serving = value;
      changes.emit("change");
    },
    get serving() {
      return serving;
    },
    close() {
      closed = true;
      serving = false;
      changes.emit("change");
    },
  };
}
