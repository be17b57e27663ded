import { describe, expect, test } from "vitest";
import {
  intersectRights,
  isWithinRights,
  type KeyRights,
  PERMISSION_NAMES,
  type Permission,
  permissionsFrom,
} from "../../src/permissions.ts";
import { needsOfMethod } from "../../src/service/method-permissions.ts";
import { PermissionCheck } from "../../src/service/permission-check.ts";
import { PERMISSION_CASES, PERMITTED_SERVICES } from "../support/permission-cases.ts";

const without = (permission: Permission) => PERMISSION_NAMES.filter((name) => name !== permission);
const callerWith = (scopes?: readonly Permission[], off?: readonly Permission[]) => ({
  plan: { off },
  rights: { scopes },
});

describe("permissions", () => {
  test("are needed by every operation", () => {
    for (const { methods } of PERMITTED_SERVICES)
      for (const method of methods) {
        expect(needsOfMethod(method), method.toString()).not.toEqual([]);
        expect(
          PERMISSION_CASES.map((one) => one.method),
          method.toString(),
        ).toContain(method);
      }
  });

  test("are all needed by some request", () => {
    const needed = new Set(PERMISSION_CASES.flatMap(({ needs }) => needs));
    expect([...needed].toSorted()).toEqual([...PERMISSION_NAMES].toSorted());
  });

  test.each(PERMISSION_CASES.map((one) => [`${one.method.parent.name}.${one.method.name}`, one] as const))(
    "decide on %s",
    (_, { method, request, needs }) => {
      const open = new PermissionCheck([]);
      for (const caller of [callerWith(), callerWith(needs), callerWith(needs, [])])
        open.requireRequest(method, request, caller);
      for (const permission of PERMISSION_NAMES) {
        const byService = () =>
          new PermissionCheck([permission]).requireRequest(method, request, callerWith(needs));
        const byPlan = () => open.requireRequest(method, request, callerWith(needs, [permission]));
        const byKey = () => open.requireRequest(method, request, callerWith(without(permission)));
        if (!needs.includes(permission)) {
          for (const allowed of [byService, byPlan, byKey]) expect(allowed).not.toThrow();
          continue;
        }
        const [metadata, kind] = [{ permission }, "purposeDisabled"];
        expect(byService).toThrow(
          expect.objectContaining({ kind, metadata: { ...metadata, by: "service" } }),
        );
        expect(byPlan).toThrow(expect.objectContaining({ kind, metadata: { ...metadata, by: "plan" } }));
        expect(byKey).toThrow(expect.objectContaining({ kind: "scopeMissing", metadata }));
      }
    },
  );

  test("have a name for all on galleries, and no unknown ones", () => {
    expect(permissionsFrom(["galleries", "urls"])).toEqual([
      ...["identify", "read", "enrol", "export", "delete"],
      "urls",
    ]);
    for (const unknown of ["", "everything", "constructor", "Analyze"])
      expect(permissionsFrom(["analyze", unknown])).toBeUndefined();
  });
});

test("rights are intersected, and never wider than both", () => {
  const all: KeyRights = {};
  const some: KeyRights = { scopes: ["identify", "read"], galleryIds: ["a", "b"] };
  const other: KeyRights = { scopes: ["read"] };
  expect(intersectRights(all, all)).toEqual({ scopes: undefined, galleryIds: undefined });
  expect(intersectRights(all, some)).toEqual(some);
  expect(intersectRights(some, other)).toEqual({ scopes: ["read"], galleryIds: ["a", "b"] });
  expect(intersectRights(some, { galleryIds: ["c"] })).toMatchObject({ galleryIds: [] });
  expect(isWithinRights(some, all)).toBe(true);
  expect(isWithinRights(all, some)).toBe(false);
  expect(isWithinRights({ scopes: ["read"] }, some)).toBe(false);
  expect(isWithinRights({ scopes: ["read"], galleryIds: ["b"] }, some)).toBe(true);
});
