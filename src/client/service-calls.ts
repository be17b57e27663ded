import type { DescService } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { type CallOptions, type Client, createClient, type Transport } from "@connectrpc/connect";
import type { CallRunner } from "./call-runner.ts";

/** The methods of a service with its generated messages, and with the deadline, retries and errors of the client. */
export type ServiceCalls<Service extends DescService> = {
  readonly [Name in keyof Client<Service>]: (
    request?: Parameters<Client<Service>[Name]>[0],
    options?: ServiceCallOptions,
  ) => ReturnType<Client<Service>[Name]>;
};

/** Options of a call with generated messages. */
export interface ServiceCallOptions {
  /** Cancels the call, which then rejects with a VisageError of the reason `CANCELLED`. */
  readonly signal?: AbortSignal | undefined;
}

type Send = (request: object, options: CallOptions) => Promise<object>;

/** Creates the calls of a service whose methods are all unary. Those that the proto calls idempotent may run twice. */
export function createServiceCalls<Service extends DescService>(
  service: Service,
  transport: Transport,
  runner: CallRunner,
): ServiceCalls<Service> {
  const client = createClient<DescService>(service, transport) as Readonly<Record<string, Send>>;
  const calls = service.methods.map(({ localName, idempotency }) => [
    localName,
    (request: object = {}, { signal }: ServiceCallOptions = {}) =>
      runner.run(signal, {
        prepare: async () => request,
        send: client[localName]!,
        isIdempotent: idempotency !== Idempotency.IDEMPOTENCY_UNKNOWN,
      }),
  ]);
  return Object.fromEntries(calls);
}
