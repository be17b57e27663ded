import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { ContextValues, Interceptor } from "@connectrpc/connect";
import type { GalleryStore } from "../galleries/gallery-store.ts";
import { AUDITED } from "./audit.ts";
import { limitToGalleries } from "./gallery-limit.ts";
import type { PermissionCheck } from "./permission-check.ts";
import { callerFrom, recordFrom } from "./request-record.ts";

/**
 * Checks every request, and every message of a stream, before the operation gets it. The images of AnalyzeImages are
 * checked one by one instead, because an error belongs to one image.
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
    if (!request.stream) {
      await requirePermitted(request.message);
      return next(request);
    }
    try {
      check.requireMethod(method, callerFrom(contextValues));
    } catch (refusal) {
      if (contextValues.get(AUDITED)) await readFirst(request.message);
      throw refusal;
    }
    recheckPermissions(check, method, contextValues);
    if (method.methodKind === "bidi_streaming") return next(request);
    return next({ ...request, message: mapMessages(request.message, requirePermitted) });
  };
}

/** Reads the first message of a stream, which has the gallery for the audit line. */
async function readFirst(messages: AsyncIterable<Message>): Promise<void> {
  await messages[Symbol.asyncIterator]()
    .next()
    .catch(() => {});
}

/** Lets the check of a stream's caller, which goes on until the stream ends, notice what is switched off meanwhile. */
function recheckPermissions(check: PermissionCheck, method: DescMethod, values: ContextValues): void {
  const record = recordFrom(values);
  const recheck = record?.recheckCaller;
  if (!record || !recheck) return;
  record.recheckCaller = async () => {
    await recheck();
    check.requireMethod(method, callerFrom(values));
  };
}

async function* mapMessages<M>(
  messages: AsyncIterable<M>,
  map: (message: M) => Promise<M>,
): AsyncGenerator<M> {
  for await (const message of messages) yield await map(message);
}
