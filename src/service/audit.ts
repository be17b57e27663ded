import { type ContextValues, createContextKey } from "@connectrpc/connect";
import { fingerprintOf } from "../accounts/key.ts";
import { type AuditDetails, type AuditLine, formatAuditLine } from "../audit/audit-line.ts";
import { AuditError, type AuditTrail } from "../audit/audit-trail.ts";
import { reasonFromKind } from "./error-table.ts";
import { recordFrom } from "./request-record.ts";
import { ServiceError } from "./service-error.ts";

/** A request whose operation is audited. Its handler adds what it knows. */
export class AuditedRequest {
  readonly #trail: AuditTrail;
  /** The fields that every line of the request has. */
  readonly #common: Omit<AuditLine, "phase">;
  #details: AuditDetails = {};
  #hasStarted = false;
  #hasEnded = false;

  constructor(trail: AuditTrail, common: Omit<AuditLine, "phase">) {
    this.#trail = trail;
    this.#common = common;
  }

  /** Whether a line has announced the effect of the request. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** Adds facts to the lines that follow. */
  add(details: AuditDetails): void {
    this.#details = { ...this.#details, ...details };
  }

  /** Writes the line that precedes an effect. Throws ServiceError if there must not be one. */
  async start(details: AuditDetails): Promise<void> {
    this.add(details);
    await orAuditUnavailable(() => this.#trail.write(this.#format({ phase: "start" })));
    this.#hasStarted = true;
  }

  /** Writes the line of the outcome, once. Never rejects: what has happened cannot be stopped. */
  async end(outcome: string): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    await this.#trail.keep(this.#format({ phase: "end", outcome }));
  }

  /** Writes the line of a result that has not been sent. Throws ServiceError if it must not be sent. */
  async endBeforeResponse(outcome: string): Promise<void> {
    await orAuditUnavailable(() => this.#trail.write(this.#format({ phase: "end", outcome }))).catch(
      async (error: unknown) => {
        this.add({ people: undefined });
        await this.end(reasonFromKind("auditUnavailable"));
        throw error;
      },
    );
    this.#hasEnded = true;
  }

  #format(fields: Pick<AuditLine, "phase" | "outcome">): string {
    return formatAuditLine({ ...this.#common, ...this.#details, ...fields });
  }
}

/** Runs work on the audit trail. Throws ServiceError if the trail cannot be written. */
export async function orAuditUnavailable<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof AuditError
      ? new ServiceError("auditUnavailable", undefined, { cause: error })
      : error;
  }
}

/** The request of an audited operation, for its handler. */
export const AUDITED = createContextKey<AuditedRequest | undefined>(undefined);

/** Adds facts to the audit lines of a request. */
export function addToAudit(values: ContextValues, details: AuditDetails): void {
  auditedFrom(values).add(details);
}

/** Writes the audit line that precedes a change or an export. Throws ServiceError if it must not happen. */
export async function startAudited(values: ContextValues, details: AuditDetails): Promise<void> {
  await auditedFrom(values).start(details);
}

function auditedFrom(values: ContextValues): AuditedRequest {
  const audited = values.get(AUDITED);
  if (!audited) throw new ServiceError("internal", undefined, { cause: "an operation that is not audited" });
  return audited;
}

/** Returns the fields about the caller that every audit line of a request has. */
export function callerFields(
  values: ContextValues,
): Pick<AuditLine, "user" | "key" | "key_name" | "address" | "trace_id"> {
  const { caller, clientAddress, traceId } = recordFrom(values) ?? {};
  return {
    user: caller?.fingerprint ?? "",
    // A request may carry two keys of its user.
    key: caller?.keyHashes.map(fingerprintOf).join(",") || undefined,
    key_name: caller?.keyNames?.join(",") || undefined,
    address: clientAddress?.() || undefined,
    trace_id: traceId,
  };
}
