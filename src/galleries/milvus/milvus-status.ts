// How Milvus says that a request has failed.
import { Code, ConnectError } from "@connectrpc/connect";
import type { Status } from "../../../gen/ts/milvus/milvus_pb.ts";
import { EngineError } from "../searchable-galleries.ts";

/** Codes of a collection or an index that does not exist: those of Milvus before 2.3, and the present ones. */
const MISSING = { errorCodes: [4, 11, 25], codes: [100, 700] };
export function pairsFrom(values: Readonly<Record<string, string>>): { key: string; value: string }[] {
  return Object.entries(values).map(([key, value]) => ({ key, value }));
}

export function wrapStatus(status: Status): { readonly status: Status } {
  return { status };
}

export async function check<Response extends { status?: Status | undefined }>(
  call: () => Promise<Response>,
): Promise<Response> {
  const response = await orEngineError(call);
  requireSuccess(response.status);
  return response;
}

export function isMissing(status: Status | undefined): boolean {
  return (
    status !== undefined &&
    (MISSING.codes.includes(status.code) || MISSING.errorCodes.includes(status.errorCode))
  );
}

export function requireSuccess(status: Status | undefined): void {
  if (status && (status.code !== 0 || status.errorCode !== 0))
    throw new EngineError(
      "refused",
      `Milvus has refused a request (${status.code || status.errorCode}): ${status.reason}`,
    );
}

export async function orEngineError<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const kind = ConnectError.from(error).code === Code.DeadlineExceeded ? "timeout" : "unreachable";
    throw new EngineError(kind, `Milvus cannot be reached: ${(error as Error).message}`, { cause: error });
  }
}
