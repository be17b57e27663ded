// Calls every operation with files and with Base64, by the clients that hey-api makes. Prints what
// openapi-generators.system.test.ts expects.
import { baseUrl, boxes, file1, file2, key, text1, text2 } from "./common";
import * as fileApi from "./hey-files";
import { client as fileClient } from "./hey-files/client.gen";
import * as textApi from "./hey-text";
import { client as textClient } from "./hey-text/client.gen";

function summarize(
  { data: match }: textApi.MatchFacesResponse,
  { data: compare }: textApi.CompareFacesResponse,
  { data: { attributes } }: textApi.GetImageAttrResponse,
  { data: vec }: textApi.GetFaceVecResponse,
) {
  return {
    match: [match.score, match.status],
    compare: compare.confidence,
    faces: Object.fromEntries(
      Object.entries(attributes).flatMap(([name, value]) =>
        "age" in value
          ? [[name, [value.age, value.face_rectangle, value.landmarks.faceLandMark.noseTip?.x]]]
          : [],
      ),
    ),
    imageSize: attributes.image_size,
    vector: vec.vector.length,
    facesFound: vec.detail?.images[0]?.faces_found,
  };
}

async function main() {
  for (const client of [fileClient, textClient]) client.setConfig({ baseUrl, auth: key });
  const throwOnError = true;
  const filePair = { img_1: file1, img_2: file2 };
  const files = summarize(
    (await fileApi.matchFaces({ body: filePair, throwOnError })).data,
    (await fileApi.compareFaces({ body: filePair, throwOnError })).data,
    (await fileApi.getImageAttr({ body: { image_attr: file1 }, throwOnError })).data,
    (await fileApi.getFaceVec({ body: { img: file1 }, query: { detail: true }, throwOnError })).data,
  );
  const textPair = { img_1: text1, img_2: text2 };
  const [box] = boxes;
  const text = summarize(
    (await textApi.matchFaces({ body: textPair, query: { bboxes_1: box }, throwOnError })).data,
    (await textApi.compareFaces({ body: textPair, query: { bboxes_1: box }, throwOnError })).data,
    (
      await textApi.getImageAttr({
        body: { image_attr: text1 },
        query: { bboxes: boxes, face_det: true },
        throwOnError,
      })
    ).data,
    (
      await textApi.getFaceVec({
        body: { img: text1 },
        query: { bboxes: box, quality: true, detail: true },
        throwOnError,
      })
    ).data,
  );
  const { error, response } = await fileApi.getFaceVec({ body: { img: file1 }, query: { bboxes: "1,2,3" } });
  console.log(JSON.stringify({ files, text, error: [response?.status, error?.code, error?.data.reason] }));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
