import type { Writable } from "node:stream";
import { openStandardStream } from "../telemetry/standard-stream.ts";
import { AuditFile } from "./audit-file.ts";
import type { AuditOutput } from "./audit-output.ts";
import { AuditStream, createStreamOutput } from "./audit-stream.ts";
import { AuditTrail, type AuditTrailOptions } from "./audit-trail.ts";

/** Creates the audit trail that a setting names: `stdout`, which `stream` may replace, or the path of a file. */
export function createAuditTrail(setting: string, options: AuditTrailOptions, stream?: Writable): AuditTrail {
  return new AuditTrail(createOutput(setting, stream), options);
}

function createOutput(setting: string, stream: Writable | undefined): AuditOutput {
  if (setting !== "stdout") return new AuditFile(setting);
  return stream ? createStreamOutput(stream) : new AuditStream(openStandardStream("stdout"));
}
