import { create, type DescMethod, type DescService, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type ContextValues,
  createContextValues,
  createServiceImplSpec,
  type HandlerContext,
  type Interceptor,
  type ServiceImpl,
  type Transport,
} from "@connectrpc/connect";
import { invokeUnaryImplementation, transformInvokeImplementation } from "@connectrpc/connect/protocol";

/**
 * Creates a transport to a service in the same process. Connect's createRouterTransport encodes and decodes every
 * message, images included, which costs a millisecond per request.
 *
 * Methods get the caller's signal itself, so the caller must abort it at the timeout.
 */
export function createDirectTransport<Service extends DescService>(
  service: Service,
  implementation: ServiceImpl<Service>,
  interceptors: Interceptor[],
): Transport {
  const { methods } = createServiceImplSpec(service, implementation);

  function createContext(
    method: DescMethod,
    [signal, timeoutMs, header, values]: CallArguments,
  ): HandlerContext {
    if (!signal) throw new TypeError("A call needs a signal.");
    const endMs = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
    return {
      service,
      method,
      signal,
      timeoutMs: () => endMs && endMs - performance.now(),
      requestMethod: "POST",
      requestHeader: header instanceof Headers ? header : new Headers(header),
      responseHeader: new Headers(),
      responseTrailer: new Headers(),
      protocolName: "connect",
      values: values ?? createContextValues(),
      url: `https://in-process/${service.typeName}/${method.name}`,
    };
  }

  return {
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      const spec = methods[method.localName];
      if (spec?.kind !== "unary") throw new TypeError(`${method} is not a unary method of ${service}.`);
      const context = createContext(method, [signal, timeoutMs, header, contextValues]);
      const request = create(method.input, input as MessageInitShape<typeof method.input>);
      const message = (await invokeUnaryImplementation(spec, context, request, interceptors)) as never;
      return { stream: false, ...responseFrom(context, method), message };
    },
    async stream(method, signal, timeoutMs, header, input, contextValues) {
      const spec = methods[method.localName];
      if (!spec || spec.kind === "unary") throw new TypeError(`${method} is no stream of ${service}.`);
      const context = createContext(method, [signal, timeoutMs, header, contextValues]);
      const invoke = transformInvokeImplementation(spec, context, interceptors);
      const message = invoke(input as AsyncIterable<never>) as AsyncIterable<never>;
      return { stream: true, ...responseFrom(context, method), message };
    },
  };
}

/** What every call gets besides its method and its messages. */
type CallArguments = readonly [
  signal: AbortSignal | undefined,
  timeoutMs: number | undefined,
  header: ConstructorParameters<typeof Headers>[0],
  values: ContextValues | undefined,
];

function responseFrom<Method extends DescMethod>(context: HandlerContext, method: Method) {
  const { service, responseHeader: header, responseTrailer: trailer } = context;
  return { service, method, header, trailer };
}
