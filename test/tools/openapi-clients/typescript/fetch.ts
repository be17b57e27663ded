// Calls every operation with files and with Base64, by the client that openapi-generator makes for fetch. Prints what
// openapi-generators.system.test.ts expects.
import { baseUrl, boxes, file1, file2, key, text1, text2 } from "./common";
import {
  type CompareFacesResult,
  Configuration,
  FaceAnalysisServiceApi,
  FaceFromJSON,
  FaceServiceApi,
  type GetFaceVecResult,
  type GetImageAttrResult,
  type MatchFacesResult,
  type ResponseError,
  V1Feature,
} from "./fetch-client";

function summarize(
  { data: match }: MatchFacesResult,
  { data: compare }: CompareFacesResult,
  { data: { attributes } }: GetImageAttrResult,
  { data: vec }: GetFaceVecResult,
) {
  return {
    match: [match.score, match.status],
    compare: compare.confidence,
    faces: Object.fromEntries(
      Object.entries(attributes)
        .filter(([name]) => name.startsWith("face_id_"))
        .map(([name, value]) => {
          const { age, faceRectangle, landmarks } = FaceFromJSON(value);
          return [name, [age, faceRectangle, landmarks.faceLandMark.noseTip?.x]];
        }),
    ),
    imageSize: attributes.image_size,
    vector: vec.vector.length,
    facesFound: vec.detail?.images[0]?.facesFound,
  };
}

async function callTyped() {
  const api = new FaceAnalysisServiceApi(new Configuration({ basePath: baseUrl, apiKey: key }));
  const form = { contentType: "multipart/form-data" } as const;
  const json = { contentType: "application/json" } as const;
  const features = [V1Feature.FeatureAttributes, V1Feature.FeatureQuality];
  const image = { content: text1 };
  const { faces, facesFound } = await api.v1AnalyzeImage({ ...form, image: file1, features, maxFaces: 2 });
  const request = { image, features: [V1Feature.FeatureEmbedding], maxFaces: 1 };
  const [face] = (await api.v1AnalyzeImage({ ...json, v1AnalyzeImageRequest: request })).faces;
  const stored = { source: { embedding: face?.embedding }, target: { image }, maxFalseMatchRate: 0.001 };
  const { matches } = await api.v1CompareFaces({ ...json, v1CompareFacesRequest: stored });
  const pair = await api.v1CompareFaces({ ...form, source: file1, target: file2 });
  const fault = await api
    .v1AnalyzeImage({ ...form, image: file1, boxes: ["1,2,3"] })
    .catch((error: unknown) => error);
  const { response } = fault as ResponseError;
  return {
    faces: faces.map(({ age, gender, quality }) => [age?.range, gender?.value, quality?.usable]),
    facesFound,
    matched: matches.map(({ matched }) => matched),
    pairs: pair.matches.length,
    error: [response.status, (await response.json()).reason],
  };
}

async function main() {
  const api = new FaceServiceApi(new Configuration({ basePath: baseUrl, apiKey: key }));
  const form = { contentType: "multipart/form-data" } as const;
  const json = { contentType: "application/json" } as const;
  const files = summarize(
    await api.matchFaces({ ...form, img1: file1, img2: file2 }),
    await api.compareFaces({ ...form, img1: file1, img2: file2 }),
    await api.getImageAttr({ ...form, imageAttr: file1 }),
    await api.getFaceVec({ ...form, img: file1, detail: true }),
  );
  const pair = { img1: text1, img2: text2 };
  const [box] = boxes;
  const image = { img: text1 };
  const text = summarize(
    await api.matchFaces({ ...json, matchFacesRequest: pair, bboxes1: box }),
    await api.compareFaces({ ...json, compareFacesRequest: pair, bboxes1: box }),
    await api.getImageAttr({
      ...json,
      getImageAttrRequest: { imageAttr: text1 },
      bboxes: boxes,
      faceDet: true,
    }),
    await api.getFaceVec({ ...json, getFaceVecRequest: image, bboxes: box, quality: true, detail: true }),
  );
  const fault = await api.getFaceVec({ ...form, img: file1, bboxes: "1,2,3" }).catch((error) => error);
  const { response } = fault as ResponseError;
  const { code, data } = await response.json();
  const typed = await callTyped();
  console.log(JSON.stringify({ files, text, error: [response.status, code, data.reason], typed }));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
