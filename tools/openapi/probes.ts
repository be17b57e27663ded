import type { JsonObject } from "@bufbuild/protobuf";

/** What the probes are listed under. */
export const PROBE_TAG = {
  name: "Health",
  description: "For load balancers and orchestrators; no user id is needed.",
} as const;

/** The Path Item Objects of the probes. */
export const PROBE_PATHS: JsonObject = {
  "/healthz": { get: probe("isAlive", "Tells that the process is alive", { 200: "ok" }) },
  "/readyz": {
    get: probe("isReady", "Tells whether requests are welcome now", { 200: "ok", 503: "not ready" }),
  },
};

function probe(operationId: string, summary: string, answers: Readonly<Record<string, string>>): JsonObject {
  return {
    operationId,
    summary,
    tags: [PROBE_TAG.name],
    security: [],
    responses: Object.fromEntries(
      Object.entries(answers).map(([httpStatus, status]) => [httpStatus, answerOf(status)]),
    ),
  };
}

function answerOf(status: string): JsonObject {
  const schema = { type: "object", required: ["status"], properties: { status: { const: status } } };
  return {
    description: `The status is \`${status}\`.`,
    headers: { "x-request-id": { $ref: "#/components/headers/x-request-id" } },
    content: { "application/json": { schema } },
  };
}
