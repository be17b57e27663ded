import type { DescMethod, Message } from "@bufbuild/protobuf";
import { ConnectError, type Interceptor, type StreamRequest, type UnaryRequest } from "@connectrpc/connect";
import { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import type { AuditTrail } from "../audit/audit-trail.ts";
import { AUDITED, AuditedRequest, callerFields, orAuditUnavailable } from "./audit.ts";
import { reasonFromKind } from "./error-table.ts";
import { isId } from "./gallery-messages.ts";
import { isCancelled, REQUEST_ID, SUCCESS } from "./interceptors.ts";
import { CANCELED } from "./request-record.ts";
import { ServiceError, serviceErrorFrom } from "./service-error.ts";

/**
 * How an operation is audited. A `change` and an `export` have a line before their effect, which their handlers write by
 * `startAudited`, and one at the end. A `search` has one line, before its response is sent.
 */
export type Auditing = "change" | "export" | "search" | "none";

/** How every operation on what is stored is audited. */
export const AUDITING: Readonly<Record<string, Readonly<Record<string, Auditing>>>> = {
  [GalleryService.typeName]: {
    createGallery: "change",
    getGallery: "none",
    listGalleries: "none",
    updateGallery: "change",
    deleteGallery: "change",
    replaceGallery: "change",
    enrolFace: "change",
    getPerson: "none",
    listPeople: "none",
    updatePerson: "change",
    deletePerson: "change",
    deleteFace: "change",
    identifyFaces: "search",
    exportGallery: "export",
    exportPerson: "export",
    importFaces: "change",
  } satisfies Record<keyof typeof GalleryService.method, Auditing>,
  [AccountService.typeName]: {
    getAccount: "none",
    getUsage: "none",
    createKey: "change",
    deleteKey: "change",
  } satisfies Record<keyof typeof AccountService.method, Auditing>,
  [AdminService.typeName]: {
    listUsers: "none",
    getUser: "none",
    createUser: "change",
    updateUser: "change",
    deleteUser: "change",
    createUserKey: "change",
    deleteUserKey: "change",
    listPlans: "none",
    createPlan: "change",
    updatePlan: "change",
    deletePlan: "change",
    sumUsage: "none",
  } satisfies Record<keyof typeof AdminService.method, Auditing>,
};

function auditingOf({ parent, localName }: DescMethod): Auditing {
  return AUDITING[parent.typeName]?.[localName] ?? "none";
}

/**
 * Writes the lines of audited operations, also of those that fail, to the audit trail. If it cannot be written and must
 * be, they are rejected before they do anything. `source` names the caller if it is no client of the service.
 */
export function auditRequests(trail: AuditTrail, source?: string): Interceptor {
  return (next) => async (request) => {
    const { method, contextValues, header, signal } = request;
    const auditing = auditingOf(method);
    if (auditing === "none") return next(request);
    const audited = new AuditedRequest(trail, {
      operation: method.name,
      source,
      ...callerFields(contextValues),
      request_id: header.get(REQUEST_ID) ?? undefined,
    });
    await orAuditUnavailable(() => trail.requireAvailable());
    contextValues.set(AUDITED, audited);
    const fail = async (fault: unknown): Promise<never> => {
      await audited.end(outcomeFrom(fault, signal));
      throw fault;
    };
    const response = await next(withGallery(request, audited)).catch(fail);
    if (response.stream && method.methodKind === "server_streaming")
      return { ...response, message: auditStream(response.message, audited, signal) };
    if (auditing === "search") await audited.endBeforeResponse(SUCCESS);
    else await audited.end(SUCCESS);
    if (auditing === "change" && !audited.hasStarted) throw unannouncedError(method);
    return response;
  };
}

/** Adds the gallery that a request names, also if it is rejected before its handler. Text that is no id is left out. */
function withGallery<R extends UnaryRequest | StreamRequest>(request: R, audited: AuditedRequest): R {
  const add = ({ galleryId = "" }: Message & { readonly galleryId?: string }) => {
    if (isId(galleryId)) audited.add({ gallery: galleryId });
  };
  if (request.stream) return { ...request, message: tapFirst(request.message, add) };
  add(request.message);
  return request;
}

/** Passes messages on, with a callback for the first one. */
async function* tapFirst<T>(messages: AsyncIterable<T>, onFirst: (message: T) => void): AsyncGenerator<T> {
  let isFirst = true;
  for await (const message of messages) {
    if (isFirst) onFirst(message);
    isFirst = false;
    yield message;
  }
}

/** Passes the messages of an export on, and writes its line at the end, however it ends. */
async function* auditStream<T>(
  messages: AsyncIterable<T>,
  audited: AuditedRequest,
  signal: AbortSignal,
): AsyncGenerator<T> {
  // A client that leaves may stop the stream without another message.
  const onAbort = () => audited.end(outcomeFrom(signal.reason, signal));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    yield* messages;
    await audited.end(SUCCESS);
  } catch (fault) {
    await audited.end(outcomeFrom(fault, signal));
    throw fault;
  } finally {
    signal.removeEventListener("abort", onAbort);
    await audited.end(CANCELED);
  }
}

function outcomeFrom(fault: unknown, signal: AbortSignal): string {
  if (isCancelled(signal)) return CANCELED;
  const cause = fault instanceof ConnectError && fault.cause !== undefined ? fault.cause : fault;
  return reasonFromKind(serviceErrorFrom(cause).kind);
}

function unannouncedError({ name }: DescMethod): ServiceError {
  return new ServiceError("internal", undefined, { cause: `${name} has no audit line before its effect` });
}
