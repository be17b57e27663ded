import { expect, test } from "vitest";
import { findPeople, sortPeople } from "../../src/web/galleries/people-list.ts";

const PEOPLE = [
  ["p1", "Person 10"],
  ["p2", "Person 9"],
  ["P3", ""],
  ["p4", "Zoë"],
  ["p5", "Ángel"],
  ["p0", "Zoë"],
].map(([personId = "", displayName = ""]) => ({ personId, displayName, faces: [] }));
const idsOf = (people: readonly { readonly personId: string }[]) => people.map(({ personId }) => personId);

test("people are sorted by name, those without one by id", () => {
  expect(idsOf(sortPeople(PEOPLE))).toEqual(["p5", "P3", "p2", "p1", "p0", "p4"]);
});

test.each([
  ["", ["p1", "p2", "P3", "p4", "p5", "p0"]],
  ["zoe", ["p4", "p0"]],
  [" ANG ", ["p5"]],
  ["p3", ["P3"]],
  ["person 1", ["p1"]],
  ["nobody", []],
])("%j finds people by name or id", (text, ids) => {
  expect(idsOf(findPeople(PEOPLE, text))).toEqual(ids);
});
