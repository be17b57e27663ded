import { EventEmitter, once } from "node:events";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import {
  Health as HealthService,
  HealthCheckResponse_ServingStatus as Status,
} from "../../gen/ts/grpc/health/v1/health_pb.ts";

/** The serving status of the process, and the gRPC health service that reports it. */
export interface Health {
  /** Adds grpc.health.v1.Health to a router. */
  routes(router: ConnectRouter): void;
  /** Sets the serving status. Has no effect after `close`. */
  setServing(serving: boolean): void;
  readonly serving: boolean;
  /** Sets the status to not serving permanently. Every watch stream reports it and ends. */
  close(): void;
}

/**
 * Creates the health of a process with these services, given by their full names. The initial status is not serving.
 * All services share one status. The empty service name stands for the whole server.
 */
export function createHealth(services: readonly string[]): Health {
  const names = ["", ...services];
  // There may be any number of watchers, so disable the warning about listener leaks.
  const changes = new EventEmitter().setMaxListeners(0);
  let serving = false;
  let closed = false;

  const status = () => (serving ? Status.SERVING : Status.NOT_SERVING);

  /** Yields the status and each change. A slow client gets only the latest status. */
  async function* watch(service: string, signal: AbortSignal) {
    let lastSent: Status | undefined;
    while (!signal.aborted) {
      const current = names.includes(service) ? status() : Status.SERVICE_UNKNOWN;
      if (current !== lastSent) {
        lastSent = current;
        yield { status: current };
      } else if (closed) {
        return;
      } else {
        // Rejects only if the client disconnects, which ends the loop.
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
