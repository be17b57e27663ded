// Calls every operation with files and with Base64, by the clients that hey-api makes. Prints what
// openapi-generators.system.test.ts expects.
import { baseUrl, boxes, file1, file2, key, text1, text2 } from "./common";
import * as fileApi from "./hey-files";
import { client as fileClient } from "./hey-files/client.gen";
import * as textApi from "./hey-text";
import { client as textClient } from "./hey-text/client.gen";

function summarize(
  { data: match }: textApi.MatchFacesResult,
  { data: compare }: textApi.CompareFacesResult,
  { data: { attributes } }: textApi.GetImageAttrResult,
  { data: vec }: textApi.GetFaceVecResult,
) {
  return {
    match: [match.score, match.status],
    compare: compare.confidence,
    faces: Object.fromEntries(
      Object.entries(attributes)
        .filter(([name]) => name.startsWith("face_id_"))
        .map(([name, value]) => {
          const { age, face_rectangle, landmarks } = value as textApi.Face;
          return [name, [age, face_rectangle, landmarks.faceLandMark.noseTip?.x]];
        }),
    ),
    imageSize: attributes.image_size,
    vector: vec.vector.length,
    facesFound: vec.detail?.images[0]?.faces_found,
  };
}

async function callTyped() {
  const throwOnError = true;
  const features: textApi.V1Feature[] = ["FEATURE_ATTRIBUTES", "FEATURE_QUALITY"];
  const image = { content: text1 };
  const { data: measured } = await fileApi.v1AnalyzeImage({
    body: { image: file1 },
    query: { features, maxFaces: 2 },
    throwOnError,
  });
  const { data: embedded } = await textApi.v1AnalyzeImage({
    body: { image, features: ["FEATURE_EMBEDDING"], maxFaces: 1 },
    throwOnError,
  });
  const source = { embedding: embedded.faces[0]?.embedding };
  const { data: stored } = await textApi.v1CompareFaces({
    body: { source, target: { image }, maxFalseMatchRate: 0.001 },
    throwOnError,
  });
  const { data: pair } = await fileApi.v1CompareFaces({
    body: { source: file1, target: file2 },
    throwOnError,
  });
  const { error, response } = await fileApi.v1AnalyzeImage({
    body: { image: file1 },
    query: { boxes: ["1,2,3"] },
  });
  return {
    faces: measured.faces.map(({ age, gender, quality }) => [age?.range, gender?.value, quality?.usable]),
    facesFound: measured.facesFound,
    matched: stored.matches.map(({ matched }) => matched),
    pairs: pair.matches.length,
    error: [response?.status, error?.reason],
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
  const failure = [response?.status, error?.code, error?.data.reason];
  console.log(JSON.stringify({ files, text, error: failure, typed: await callTyped() }));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
