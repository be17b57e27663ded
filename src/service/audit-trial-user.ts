import type { TrialUserOptions } from "../accounts/trial-user.ts";
import { formatAuditLine } from "../audit/audit-line.ts";
import type { AuditTrail } from "../audit/audit-trail.ts";
import { reasonFromKind } from "./error-table.ts";
import { SUCCESS } from "./interceptors.ts";
import { serviceErrorFrom } from "./service-error.ts";

/** Audits the creation of the trial user at the start of the service. Throws AuditError if it must not happen. */
export function auditTrialUser(trail: AuditTrail): TrialUserOptions["runAudited"] {
  return async ({ fingerprint, plan }, create) => {
    const line = {
      operation: "CreateUser",
      source: "service start",
      user: "admin",
      target_user: fingerprint,
      plan,
    };
    const end = (outcome: string) => trail.keep(formatAuditLine({ ...line, phase: "end", outcome }));
    await trail.write(formatAuditLine({ ...line, phase: "start" }));
    try {
      await create();
    } catch (error) {
      await end(reasonFromKind(serviceErrorFrom(error).kind));
      throw error;
    }
    await end(SUCCESS);
  };
}
