import { hostname } from "node:os";
import { expect, test } from "vitest";
import { createResource } from "../../src/telemetry/resource.ts";

const DEFAULT = { "service.name": "visage", "service.version": "1.2.3", "service.instance.id": hostname() };

function resourceFrom(resourceAttributes?: string, serviceName?: string) {
  const faults: string[] = [];
  const resource = createResource({ serviceName, resourceAttributes }, "1.2.3", (fault) =>
    faults.push(fault),
  );
  return { resource, faults };
}

test("has the name, the version and the host by default", () => {
  expect(resourceFrom()).toEqual({ resource: DEFAULT, faults: [] });
});

test("has the configured attributes, percent-decoded", () => {
  const attributes = "service.name=faces, team=a%2Cb%3Dc,service.instance.id=pod-7,";
  const configured = { "service.name": "faces", team: "a,b=c", "service.instance.id": "pod-7" };
  expect(resourceFrom(attributes)).toEqual({ resource: { ...DEFAULT, ...configured }, faults: [] });
});

test("prefers OTEL_SERVICE_NAME to the attribute", () => {
  expect(resourceFrom("service.name=faces", "other").resource["service.name"]).toBe("other");
});

test.each(["team", "team=a=b", "=a", "team=%", "a=b,team=%E0%A4%A", "a=b,c"])(
  "ignores all of the invalid attributes %s and reports it",
  (attributes) => {
    const { resource, faults } = resourceFrom(attributes);
    expect(resource).toEqual(DEFAULT);
    expect(faults).toEqual([expect.stringMatching(/^OTEL_RESOURCE_ATTRIBUTES must be key=value pairs/)]);
  },
);
