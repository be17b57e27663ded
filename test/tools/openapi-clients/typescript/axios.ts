// Calls every operation with files and with Base64, by the client that openapi-generator makes for axios. Prints what
// openapi-generators.system.test.ts expects.
import { isAxiosError } from "axios";
import {
  type CompareFacesResult,
  Configuration,
  type ErrorResponse,
  type Face,
  FaceAnalysisServiceApi,
  FaceServiceApi,
  type GetFaceVecResult,
  type GetImageAttrResult,
  type MatchFacesResult,
  V1Feature,
  type V1Status,
} from "./axios-client";
import { baseUrl, boxes, file1, file2, key, text1, text2 } from "./common";

function summarize(
  { data: { data: match } }: { data: MatchFacesResult },
  { data: { data: compare } }: { data: CompareFacesResult },
  {
    data: {
      data: { attributes },
    },
  }: { data: GetImageAttrResult },
  { data: { data: vec } }: { data: GetFaceVecResult },
) {
  return {
    match: [match.score, match.status],
    compare: compare.confidence,
    faces: Object.fromEntries(
      Object.entries(attributes)
        .filter(([name]) => name.startsWith("face_id_"))
        .map(([name, value]) => {
          const { age, face_rectangle, landmarks } = value as Face;
          return [name, [age, face_rectangle, landmarks.faceLandMark.noseTip?.x]];
        }),
    ),
    imageSize: attributes.image_size,
    vector: vec.vector.length,
    facesFound: vec.detail?.images[0]?.faces_found,
  };
}

async function callTyped() {
  const api = new FaceAnalysisServiceApi(new Configuration({ basePath: baseUrl, apiKey: key }));
  const features = [V1Feature.FeatureAttributes, V1Feature.FeatureQuality];
  const image = { content: text1 };
  const { data: measured } = await api.v1AnalyzeImageWithFormData(file1, features, undefined, 2);
  const request = { image, features: [V1Feature.FeatureEmbedding], maxFaces: 1 };
  const [face] = (await api.v1AnalyzeImageWithJson(request)).data.faces;
  const stored = { source: { embedding: face?.embedding }, target: { image }, maxFalseMatchRate: 0.001 };
  const { data: comparison } = await api.v1CompareFacesWithJson(stored);
  const { data: pair } = await api.v1CompareFacesWithFormData(file1, file2);
  const fault = await api.v1AnalyzeImageWithFormData(file1, [], ["1,2,3"]).catch((error: unknown) => error);
  if (!isAxiosError<V1Status>(fault)) throw fault;
  return {
    faces: measured.faces.map(({ age, gender, quality }) => [age?.range, gender?.value, quality?.usable]),
    facesFound: measured.facesFound,
    matched: comparison.matches.map(({ matched }) => matched),
    pairs: pair.matches.length,
    error: [fault.response?.status, fault.response?.data.reason],
  };
}

async function main() {
  const api = new FaceServiceApi(new Configuration({ basePath: baseUrl, apiKey: key }));
  const files = summarize(
    await api.matchFacesWithFormData(file1, file2),
    await api.compareFacesWithFormData(file1, file2),
    await api.getImageAttrWithFormData(file1),
    await api.getFaceVecWithFormData(file1, undefined, undefined, undefined, true),
  );
  const pair = { img_1: text1, img_2: text2 };
  const [box] = boxes;
  const text = summarize(
    await api.matchFacesWithJson(pair, box),
    await api.compareFacesWithJson(pair, box),
    await api.getImageAttrWithJson({ image_attr: text1 }, boxes, true),
    await api.getFaceVecWithJson({ img: text1 }, box, true, undefined, true),
  );
  const fault = await api.getFaceVecWithFormData(file1, "1,2,3").catch((error: unknown) => error);
  if (!isAxiosError<ErrorResponse>(fault)) throw fault;
  const { status, data } = fault.response!;
  const typed = await callTyped();
  console.log(JSON.stringify({ files, text, error: [status, data.code, data.data.reason], typed }));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
