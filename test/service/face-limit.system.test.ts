import { expect, onTestFinished, test } from "vitest";
import { MAX_FACES } from "../../src/core/steps/selection.ts";
import { createCrowd } from "../support/faces.ts";
import { startTestService, USER } from "../support/service.ts";

test("faces beyond the limit are left out, and a header states how many were found", async () => {
  const service = await startTestService();
  onTestFinished(() => service.close());
  const body = new FormData();
  body.append("image_attr", new Blob([new Uint8Array(await createCrowd(289, 64))]), "crowd.png");
  const response = await fetch(`http://127.0.0.1:${service.port}/get_image_attr`, {
    method: "POST",
    headers: { user_id: USER },
    body,
  });
  const { data } = (await response.json()) as { data: { attributes: object } };
  expect(Object.keys(data.attributes)).toHaveLength(MAX_FACES + 1);
  expect(Number(response.headers.get("x-visage-faces-found"))).toBeGreaterThan(MAX_FACES);
});
