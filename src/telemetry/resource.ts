import { hostname } from "node:os";

/** Attributes that identify a running service in log and traces, by the names of OpenTelemetry. */
export type Resource = Readonly<Record<string, string>>;

/** The settings from which a resource is made. */
export interface ResourceSettings {
  /** OTEL_SERVICE_NAME. */
  readonly serviceName: string | undefined;
  /** OTEL_RESOURCE_ATTRIBUTES. */
  readonly resourceAttributes: string | undefined;
}

const DEFAULT_NAME = "visage";

/**
 * Creates the resource of this process. The instance is the host name, which is the name of the pod in Kubernetes. As
 * OpenTelemetry requires, the service name has priority over the attributes, and attributes that cannot be parsed are
 * ignored as a whole; `onFault` gets the reason.
 */
export function createResource(
  { serviceName, resourceAttributes = "" }: ResourceSettings,
  version: string,
  onFault: (fault: string) => void = () => {},
): Resource {
  const configured = parseAttributes(resourceAttributes);
  if (typeof configured === "string") onFault(`OTEL_RESOURCE_ATTRIBUTES ${configured}`);
  return {
    "service.name": DEFAULT_NAME,
    "service.version": version,
    "service.instance.id": hostname(),
    ...(typeof configured === "object" && configured),
    ...(serviceName !== undefined && { "service.name": serviceName }),
  };
}

/** Returns the fields that every log line has. */
export function logFieldsFromResource(resource: Resource): Resource {
  const names = ["service.version", "service.instance.id"];
  return Object.fromEntries(names.map((name) => [name, resource[name]!]));
}

/** Parses percent-encoded `key=value` pairs that are separated by commas. Returns a fault as text. */
function parseAttributes(text: string): Record<string, string> | string {
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  const entries: [string, string][] = [];
  for (const pair of pairs) {
    const [key, value, ...rest] = pair.split("=").map((part) => decode(part.trim()));
    if (!key || value === undefined || rest.length > 0)
      return "must be key=value pairs separated by commas, percent-encoded";
    entries.push([key, value]);
  }
  return Object.fromEntries(entries);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
