import type { JsonObject } from "@bufbuild/protobuf";

/** The tag of the health probes. */
export const PROBE_TAG = {
  name: "Health",
  description: "Probes for load balancers and orchestrators. They need no user id.",
} as const;

/** The Path Item Objects of the health probes. */
export const PROBE_PATHS: JsonObject = {
  "/healthz": { get: probe("isAlive", "Reports that the process is alive", { 200: "ok" }) },
  "/readyz": {
    get: probe("isReady", "Reports whether the service accepts requests", { 200: "ok", 503: "not ready" }),
  },
};

function probe(operationId: string, summary: string, statuses: Readonly<Record<string, string>>): JsonObject {
  return {
    operationId,
    summary,
    tags: [PROBE_TAG.name],
    security: [],
    responses: Object.fromEntries(
      Object.entries(statuses).map(([httpStatus, status]) => [httpStatus, probeResponse(status)]),
    ),
  };
}

function probeResponse(status: string): JsonObject {
  const schema = { type: "object", required: ["status"], properties: { status: { type: "string" } } };
  return {
    description: `The status is \`${status}\`.`,
    headers: { "x-request-id": { $ref: "#/components/headers/x-request-id" } },
    content: { "application/json": { schema, example: { status } } },
  };
}
