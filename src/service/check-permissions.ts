import type { Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import type { GalleryStore } from "../galleries/gallery-store.ts";
import { limitToGalleries } from "./gallery-limit.ts";
import type { PermissionCheck } from "./permission-check.ts";
import { callerFrom } from "./request-record.ts";

/**
 * Checks every request, and every message of a stream, before the operation gets it. Streams end when a permission is
 * withdrawn: the edge reads the caller of a stream again every second. The images of AnalyzeImages are checked one by
 * one instead, because an error belongs to one image.
 */
export function checkPermissions(
  check: PermissionCheck,
  galleries: Pick<GalleryStore, "getGallery">,
): Interceptor {
  return (next) => async (request) => {
    const { method, contextValues } = request;
    const requirePermitted = async <M extends Message>(message: M): Promise<M> => {
      const caller = callerFrom(contextValues);
      check.requireRequest(method, message, caller);
      await limitToGalleries(message, method, caller, galleries);
      return message;
    };
    check.requireMethod(method, callerFrom(contextValues));
    if (!request.stream) {
      await requirePermitted(request.message);
      return next(request);
    }
    if (method.methodKind === "bidi_streaming") return next(request);
    const response = await next({ ...request, message: mapMessages(request.message, requirePermitted) });
    if (!response.stream) return response;
    const requireStill = <M>(message: M): M => {
      check.requireMethod(method, callerFrom(contextValues));
      return message;
    };
    return { ...response, message: mapMessages(response.message, requireStill) };
  };
}

async function* mapMessages<M>(
  messages: AsyncIterable<M>,
  map: (message: M) => M | Promise<M>,
): AsyncGenerator<M> {
  for await (const message of messages) yield await map(message);
}
