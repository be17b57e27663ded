import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { withCanvas } from "../../../src/core/crop/drawing-memory.ts";

test("the canvas is lent to one after another, also after one that failed", async () => {
  const steps: string[] = [];
  const use = (name: string) =>
    withCanvas(async () => {
      steps.push(`${name} begins`);
      await setImmediate();
      steps.push(`${name} ends`);
      if (name === "second") throw new Error("torn");
      return name;
    });
  const [first, second, third] = await Promise.allSettled(["first", "second", "third"].map(use));
  expect([first, third]).toMatchObject([{ value: "first" }, { value: "third" }]);
  expect(second).toMatchObject({ status: "rejected", reason: { message: "torn" } });
  expect(steps).toEqual(["first", "second", "third"].flatMap((name) => [`${name} begins`, `${name} ends`]));
});
