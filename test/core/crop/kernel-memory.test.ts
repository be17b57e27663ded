import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { tensorAddress, withInputTensor } from "../../../src/core/crop/kernel-memory.ts";

test("users of the input tensor run one after another, even after one has failed", async () => {
  const steps: string[] = [];
  const use = (name: string) =>
    withInputTensor(async () => {
      steps.push(`${name} starts`);
      await setImmediate();
      steps.push(`${name} ends`);
      if (name === "second") throw new Error("failed");
      return name;
    });
  const [first, second, third] = await Promise.allSettled(["first", "second", "third"].map(use));
  expect([first, third]).toMatchObject([{ value: "first" }, { value: "third" }]);
  expect(second).toMatchObject({ status: "rejected", reason: { message: "failed" } });
  expect(steps).toEqual(["first", "second", "third"].flatMap((name) => [`${name} starts`, `${name} ends`]));
});

test("only parts of the input tensor have an address", async () => {
  const [start, part] = await withInputTensor(async (tensor) =>
    [tensor, tensor.subarray(3)].map(tensorAddress),
  );
  expect(part).toBe(start! + 12);
  expect(() => tensorAddress(new Float32Array(3))).toThrow("not part of the input tensor");
});
