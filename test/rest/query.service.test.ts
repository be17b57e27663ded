import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Echo, postTo, startEcho } from "../support/echo-service.ts";

let echo: Echo;
beforeAll(async () => {
  echo = await startEcho();
});
afterAll(() => echo.close());

const post = (target: string, body: object = {}) =>
  postTo(echo, target, ["Content-Type: application/json"], JSON.stringify(body));

describe("boxes in the query", () => {
  test.each([
    ["bboxes=1,2,3,4", "1,2,3,4"],
    ["bboxes=1,2,3,4&5,6,7,8", "1,2,3,4 5,6,7,8"],
    ["bboxes=1,2,3,4&5,6,7,8&9,9,10,10&detail=1", "1,2,3,4 5,6,7,8 9,9,10,10"],
    ["bboxes=1,2,3,4%265,6,7,8", "1,2,3,4 5,6,7,8"],
    ["bboxes=1,2,3,4&bboxes=5,6,7,8", "1,2,3,4 5,6,7,8"],
    ["bboxes=1%2C+2%2C%203,4", "1,2,3,4"],
    ["bboxes=1,2,3,4&unknown", "1,2,3,4"],
    ["bboxes=1,2,3,4&unknown&5,6,7,8", "1,2,3,4"],
    ["5,6,7,8", ""],
    ["bboxes=", ""],
  ])("%s", async (query, code) => {
    expect(await post(`/get_image_attr?${query}`)).toMatchObject({ httpStatus: 200, code });
  });

  test.each([
    ["bboxes=1,2,3,4&5,6,7,8", "BAD_BOX"],
    ["bboxes=1,2,3,4&bboxes=5,6,7,8", "BAD_BOX"],
    // The text parser rejects these; its errors keep their kind.
    ["bboxes=1,2,3,4%265,6,7,8", "BAD_REQUEST"],
    ["bboxes=x", "BAD_REQUEST"],
  ])("%s is rejected for an operation with one box", async (query, reason) => {
    const answer = await post(`/get_face_vec?${query}`);
    expect(answer).toMatchObject({ httpStatus: 400, reason, field: "bboxes" });
    expect(answer.message).toContain("bboxes");
  });

  test("a malformed box among several is named in the error", async () => {
    const answer = await post("/get_image_attr?bboxes=1,2,3,4&bboxes=1,2,3");
    expect(answer).toMatchObject({ httpStatus: 400, field: "bboxes" });
    expect(answer.message).toContain('"1,2,3"');
  });
});

test.each([
  "/match_faces",
  "/match_faces?",
  "/match_faces?unknown=1",
  "/match_faces?&&=&%",
  "http://test/match_faces?",
])("%s is served", async (target) => {
  expect(await post(target)).toMatchObject({ httpStatus: 200, message: "face_det undefined detail false" });
});

test.each([
  ["face_det=0", "face_det false"],
  ["face_det=1", "face_det true"],
  ["face_det=false", "face_det false"],
  ["faceDet=0", "face_det undefined"],
  ["face_det", "face_det undefined"],
])("?%s reads as %s", async (query, meaning) => {
  expect((await post(`/match_faces?${query}`)).message).toContain(meaning);
});

test("?quality=maybe is rejected and the error names the field", async () => {
  expect(await post("/get_face_vec?quality=maybe")).toMatchObject({ httpStatus: 400, field: "quality" });
});

test("parameters after an image URL in the query are not part of it", async () => {
  expect(await post("/get_face_vec?img=http://a/b&cache&face_det=1")).toMatchObject({ status: "http://a/b" });
});

test("fields of the query replace those of the body unless they are blank", async () => {
  const body = {
    img_1: "http://body/",
    bboxes_1: "1,2,3,4",
    bboxes_2: "5,6,7,8",
    face_det: true,
    detail: true,
  };
  const answer = await post("/match_faces?bboxes_1=9,9,9,9&bboxes_2=&face_det=0", body);
  expect(answer).toMatchObject({
    status: "http://body/ none",
    code: "9,9,9,9 5,6,7,8",
    message: "face_det false detail true",
  });
});
