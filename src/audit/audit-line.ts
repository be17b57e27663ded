/** A fact of an audited operation that its handler knows. */
export interface AuditDetails {
  readonly gallery?: string | undefined;
  readonly successor?: string | undefined;
  readonly people?: readonly string[] | undefined;
  readonly face?: string | undefined;
  readonly faces?: number | undefined;
  readonly model?: string | undefined;
  readonly target_user?: string | undefined;
  readonly target_key?: string | undefined;
  readonly plan?: string | undefined;
}

/** A line of the audit trail, besides its time. It holds no name of a person or user, no embedding, distance or key. */
export interface AuditLine extends AuditDetails {
  readonly phase: "start" | "end";
  readonly operation: string;
  /** What made the change, if not a request. */
  readonly source?: string | undefined;
  readonly user: string;
  readonly key?: string | undefined;
  readonly key_name?: string | undefined;
  readonly address?: string | undefined;
  readonly request_id?: string | undefined;
  readonly trace_id?: string | undefined;
  readonly outcome?: string | undefined;
}

/** Maximum number of people that a line names. */
const MAX_PEOPLE = 1_000;

/** What each field of a line means, in their order; docs/privacy.md has the same table. */
export const AUDIT_FIELDS: Readonly<Record<keyof AuditLine | "time" | "event" | "people_count", string>> = {
  time: "When the line was made (UTC).",
  event: "`audit`.",
  phase: "`start` before the effect, `end` when the outcome is known.",
  operation: "The method of the API, such as `EnrolFace`.",
  source:
    "`command line` if a command used the database itself, `expiry` if a time was over, `service start` for the trial user; otherwise missing.",
  user: "Fingerprint of the user, or `admin`.",
  key: "Fingerprint of the API key of the request. The admin key and a client certificate have none.",
  key_name: "Name of this API key, if it has one.",
  address: "Client address, as far as `VISAGE_TRUSTED_PROXIES` allows to find it.",
  gallery:
    "Id or alias of the gallery, as the request names it. `-` means all; at the end of DeletePerson, the ids of those that had the person.",
  successor: "Id of the gallery that replaces it.",
  people: "Ids of the people who were changed or, in a search, returned; at most the first 1,000.",
  people_count: "Number of these people.",
  face: "Id of the face, if one face was changed.",
  faces:
    "Number of faces: to be stored (`start`), stored, deleted or exported (`end`), or looked for in a search.",
  model: "Model of the templates that were stored, searched or exported.",
  target_user: "Fingerprint of the user that was changed.",
  target_key: "Fingerprint of the key that was changed.",
  plan: "Name of the plan that was changed, or that a user was given.",
  request_id: "Id of the request, as in the log and in the header `x-request-id`.",
  trace_id: "Id of the trace, if there is one.",
  outcome:
    "`ok`, or the [reason](errors.md) of the error; `CANCELED` if the client left before the change was stored or the result was complete. Only in `end`.",
};

/** Formats a line with the present time. Fields that are undefined are left out. */
export function formatAuditLine(line: AuditLine): string {
  const { people } = line;
  const fields = {
    ...line,
    time: new Date().toISOString(),
    event: "audit",
    ...(people && { people: people.slice(0, MAX_PEOPLE), people_count: people.length }),
  };
  return `${JSON.stringify(fields, Object.keys(AUDIT_FIELDS))}\n`;
}

/** Formats the line that follows a time in which lines could not be written, with the number of lines that are lost. */
export function formatAuditGap(since: Date, lost: number): string {
  return `${JSON.stringify({ time: new Date().toISOString(), event: "audit gap", since, lost })}\n`;
}
