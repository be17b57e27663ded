import { create, equals, type MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import {
  AgeRange,
  type AnalyzeImageRequest,
  AnalyzeImageRequestSchema,
  type AnalyzeImageResponse,
  AnalyzeImageResponseSchema,
  CandidatesReason,
  CompareFacesRequestSchema,
  type CompareFacesResponse,
  CompareFacesResponseSchema,
  FaceAnalysisService,
  Feature,
  Gender,
  Population,
  QualityComponent,
  QualityComponentSchema,
  QualityIssue,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { confidenceOf, readFalseMatchRates } from "../../src/core/index.ts";
import type { RunningService } from "../../src/main.ts";
import { photograph, plainImage } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";
import { createTypedClients, type TypedClient } from "../support/typed-clients.ts";

const image = (content: Uint8Array) => ({ source: { case: "content", value: content } as const });
const PHOTO = image(photograph(1));
const RATES = readFalseMatchRates();
const BLANK = image(await plainImage(300, 200, "#808080"));
const ALL = [Feature.LANDMARKS, Feature.ATTRIBUTES, Feature.EMBEDDING, Feature.QUALITY];
const WOMAN_IN_1 = { x1: 1487, y1: 263, x2: 1642, y2: 419 };
const WOMAN_IN_3 = { x1: 1064, y1: 254, x2: 1309, y2: 499 };

let service: RunningService;
let clients: readonly TypedClient[];

beforeAll(async () => {
  service = await startTestService();
  clients = createTypedClients(service.port, USER);
});
afterAll(() => service.close());

const transport = () => createGrpcTransport({ baseUrl: `http://127.0.0.1:${service.port}` });
const headers = { "x-api-key": USER };
const analyze = (request: MessageInitShape<typeof AnalyzeImageRequestSchema>) =>
  createClient(FaceAnalysisService, transport()).analyzeImage(request, { headers });
const compare = (request: MessageInitShape<typeof CompareFacesRequestSchema>) =>
  createClient(FaceAnalysisService, transport()).compareFaces(request, { headers });

describe("every protocol gives the same result", () => {
  const CASES: Readonly<Record<string, MessageInitShape<typeof AnalyzeImageRequestSchema>>> = {
    "all features": { image: PHOTO, features: ALL },
    "the default features": { image: PHOTO },
    "two faces": { image: PHOTO, maxFaces: 2, features: [Feature.EMBEDDING] },
    "a box": { image: PHOTO, boxes: [{ x1: 1487.5, y1: 263.25, x2: 1642, y2: 419 }] },
    "no face": { image: BLANK },
    "no image": {},
    "an empty box": { image: PHOTO, boxes: [{ x1: 5, y1: 5, x2: 5, y2: 9 }] },
    "a box without a face": { image: PHOTO, boxes: [{ x1: 1, y1: 1, x2: 60, y2: 60 }] },
    "too many faces": { image: PHOTO, maxFaces: 257 },
    "no such feature": { image: PHOTO, features: [Feature.UNSPECIFIED] },
  };

  test.each(Object.entries(CASES))("AnalyzeImage: %s", async (_, init) => {
    const request = create(AnalyzeImageRequestSchema, init);
    const [first, ...others] = await Promise.all(
      clients.map((client) => client.call("analyzeImage", request)),
    );
    for (const [i, other] of others.entries()) {
      if ("reason" in first!) expect(other, clients[i + 1]!.name).toEqual(first);
      else if ("reason" in other) expect.fail(`${clients[i + 1]!.name}: ${other.reason}`);
      else
        expect(
          equals(
            AnalyzeImageResponseSchema,
            first!.response as AnalyzeImageResponse,
            other.response as AnalyzeImageResponse,
          ),
          clients[i + 1]!.name,
        ).toBe(true);
    }
  });

  test("CompareFaces", async () => {
    const { faces } = await analyze({ image: PHOTO, features: [Feature.EMBEDDING] });
    const request = create(CompareFacesRequestSchema, {
      source: { source: { case: "embedding", value: faces[0]!.embedding! } },
      target: { source: { case: "image", value: PHOTO } },
      maxFalseMatchRate: 0.001,
    });
    const outcomes = await Promise.all(clients.map((client) => client.call("compareFaces", request)));
    const responses = outcomes.map((outcome) => (outcome as { response: CompareFacesResponse }).response);
    expect(responses[0]!.matches.length).toBeGreaterThan(1);
    for (const [i, response] of responses.entries())
      expect(equals(CompareFacesResponseSchema, responses[0]!, response), clients[i]!.name).toBe(true);
  });
});

describe("the numbers are those of face.v1", () => {
  test.each([1, 2, 3, 4, 5, 6] as const)("in photograph %i", async (number) => {
    const photo = image(photograph(number));
    const old = createClient(FaceService, transport());
    const [{ faces, imageSize, facesFound }, { data: attributes }, { data: vector }] = await Promise.all([
      analyze({ image: photo, features: ALL }),
      old.getImageAttr({ imageAttr: photo, detail: true }, { headers }),
      old.getFaceVec({ img: photo }, { headers }),
    ]);
    const oldFaces = Object.values(attributes!.attributes!.faces);
    const details = attributes!.detail!.images[0]!;
    expect([imageSize!.height, imageSize!.width]).toEqual(attributes!.attributes!.imageSize);
    expect(facesFound).toBe(details.facesFound);
    expect(faces).toHaveLength(oldFaces.length);
    faces.forEach((face, i) => {
      const { age, gender, genderConfidence, faceRectangle, landmarks } = oldFaces[i]!;
      const detail = details.faces[i]!;
      const { x1, y1, x2, y2 } = face.box!;
      expect([x1, y1, x2, y2].map(Math.round)).toEqual(faceRectangle);
      expect(`${face.age!.minYears}-${face.age!.maxYears}`).toBe(age);
      expect(AgeRange[face.age!.range]).toBe(`FROM_${age.replace("-", "_TO_")}`);
      expect(Gender[face.gender!.value]).toBe(gender.toUpperCase());
      expect(face.gender!.confidence).toBe(Math.fround(genderConfidence));
      const points = Object.values(landmarks!.faceLandMark).map(({ x, y }) => ({ x, y }));
      const rounded = face.landmarks.map(({ x, y }) => ({ x: Math.round(x), y: Math.round(y) }));
      expect(rounded).toHaveLength(68);
      expect(new Set(rounded.map(({ x, y }) => `${x} ${y}`))).toEqual(
        new Set(points.map(({ x, y }) => `${x} ${y}`)),
      );
      expect(face.pose!.yaw).toBe(Math.fround(detail.yaw));
      expect(face.quality!.brightness).toBe(Math.fround(detail.light));
      expect(face.quality!.size).toBe(Math.min(...detail.faceSize));
      expect(face.detectionScore).toBe(Math.fround(detail.score!));
      expect(face.presence).toBe(Math.fround(detail.presence));
      expect(face.prominence).toBe(Math.fround(detail.prominence!));
    });
    expect(faces[0]!.embedding!.values).toEqual(vector!.vector);
  });

  test("of match_faces and compare_faces", async () => {
    const pair = { img1: PHOTO, img2: image(photograph(3)), bboxes1: WOMAN_IN_1, bboxes2: WOMAN_IN_3 };
    const old = createClient(FaceService, transport());
    const [{ matches, threshold }, { data: matched }, { data: compared }] = await Promise.all([
      compare({
        source: { source: { case: "image", value: pair.img1 }, box: WOMAN_IN_1 },
        target: { source: { case: "image", value: pair.img2 }, box: WOMAN_IN_3 },
      }),
      old.matchFaces(pair, { headers }),
      old.compareFaces(pair, { headers }),
    ]);
    const [match] = matches;
    expect(match!.distance.toFixed(2)).toBe(Number(matched!.score).toFixed(2));
    expect(match!.confidence).toBeCloseTo(Number(compared!.confidence), 2);
    expect(match!.matched).toBe(matched!.status === "match");
    expect(threshold).toBe(0.5);
  });
});

describe("AnalyzeImage", () => {
  const isPresent = ({
    landmarks,
    age,
    gender,
    embedding,
    quality,
  }: AnalyzeImageResponse["faces"][number]) => ({
    landmarks: landmarks.length > 0,
    attributes: age !== undefined && gender !== undefined,
    embedding: embedding !== undefined,
    quality: quality !== undefined,
  });

  test.each<[AnalyzeImageRequest["features"], string[]]>([
    [[], ["landmarks", "attributes", "quality"]],
    [[Feature.EMBEDDING], ["embedding"]],
    [
      [Feature.LANDMARKS, Feature.QUALITY],
      ["landmarks", "quality"],
    ],
    [[Feature.ATTRIBUTES, Feature.ATTRIBUTES], ["attributes"]],
  ])("returns the features %j and nothing else", async (features, expected) => {
    const { faces } = await analyze({ image: PHOTO, features });
    for (const face of faces) {
      const present = Object.entries(isPresent(face)).flatMap(([name, is]) => (is ? [name] : []));
      expect(present).toEqual(expected);
      expect(face.pose !== undefined).toBe(present.includes("landmarks") || present.includes("quality"));
    }
  });

  test("returns the most prominent faces and counts all", async () => {
    const all = await analyze({ image: PHOTO });
    const two = await analyze({ image: PHOTO, maxFaces: 2 });
    expect(all.faces.length).toBeGreaterThan(2);
    expect(two.faces).toEqual(all.faces.slice(0, 2));
    expect(two.facesFound).toBe(all.facesFound);
  });

  test("names what is wrong with a face", async () => {
    const { faces } = await analyze({ image: PHOTO, boxes: [WOMAN_IN_1] });
    expect(faces[0]!.quality).toMatchObject({ issues: [], usable: true });
    expect(faces[0]!.quality!.value).toBeGreaterThanOrEqual(88);
    const { components } = faces[0]!.quality!;
    const [, ...known] = QualityComponentSchema.values.map(({ number }) => number);
    expect(components.map(({ component }) => component)).toEqual(known);
    const illumination = components.find(({ component }) => component === QualityComponent.ILLUMINATION);
    expect(illumination!.measure).toBe(faces[0]!.quality!.brightness);
    const { default: sharp } = await import("sharp");
    const blurred = await sharp(photograph(3)).blur(25).jpeg().toBuffer();
    const [face] = (await analyze({ image: image(blurred), maxFaces: 1 })).faces;
    expect(face!.quality!.usable).toBe(false);
    expect(face!.quality!.issues[0]).toBe(QualityIssue.BLURRED);
    expect(face!.quality!.value).toBeLessThan(88);
  });
});

describe("CompareFaces", () => {
  const from = async (number: 1 | 3) => {
    const box = number === 1 ? WOMAN_IN_1 : WOMAN_IN_3;
    const request = { image: image(photograph(number)), boxes: [box], features: [Feature.EMBEDDING] };
    const { faces } = await analyze(request);
    return faces[0]!.embedding!;
  };
  const stored = (value: { values: number[]; model: string }) => ({
    source: { case: "embedding", value } as const,
  });
  const inImage = (number: 1 | 3) => ({
    source: { case: "image", value: image(photograph(number)) } as const,
  });

  test("compares an embedding with every face of an image, the nearest first", async () => {
    const { matches, sourceBox } = await compare({ source: stored(await from(1)), target: inImage(3) });
    const { faces } = await analyze({ image: image(photograph(3)) });
    expect(matches).toHaveLength(faces.length);
    const distances = matches.map(({ distance }) => distance);
    expect(distances).toEqual(distances.toSorted((a, b) => a - b));
    expect(matches.map(({ matched }) => matched)).toEqual(distances.map((distance) => distance < 0.5));
    expect(matches[0]!.matched).toBe(true);
    expect(faces.map(({ box }) => box)).toContainEqual(matches[0]!.box);
    expect(sourceBox).toBeUndefined();
  });

  test("measures the quality of both images if asked", async () => {
    const request = { source: inImage(1), target: inImage(3) };
    const plain = await compare(request);
    expect([plain.sourceQuality, plain.matches[0]!.quality]).toEqual([undefined, undefined]);
    const { faces } = await analyze({ image: image(photograph(3)), features: [Feature.QUALITY] });
    const measured = await compare({ ...request, quality: true });
    expect(measured.sourceQuality!.components.length).toBeGreaterThan(5);
    expect(measured.sourcePose).toBeDefined();
    for (const { box, quality, pose } of measured.matches)
      expect(faces).toContainEqual(expect.objectContaining({ box, quality, pose }));
    expect(measured.matches.map(({ distance }) => distance)).toEqual(
      plain.matches.map(({ distance }) => distance),
    );
  });

  test("compares two embeddings", async () => {
    const [one, other] = [await from(1), await from(3)];
    const { matches, model } = await compare({ source: stored(one), target: stored(other) });
    const distance = Math.hypot(...one.values.map((value, i) => value - other.values[i]!));
    expect(matches).toHaveLength(1);
    expect(matches[0]!.distance).toBe(Math.fround(Number(distance.toFixed(2))));
    // The confidence tells no more.
    expect(matches[0]!.confidence).toBeCloseTo(confidenceOf(matches[0]!.distance), 6);
    expect(matches[0]!.box).toBeUndefined();
    expect(model).toBe(one.model);
  });

  test("finds no match in an image without a face, but needs a face in the source", async () => {
    const blank = { source: { case: "image", value: BLANK } as const };
    expect((await compare({ source: inImage(1), target: blank })).matches).toEqual([]);
    await expect(compare({ source: blank, target: inImage(1) })).rejects.toThrow("No face was found");
  });

  describe.each([
    [false, "age10Up", Population.AGE_10_AND_OLDER],
    [true, "adults", Population.ADULTS],
  ] as const)("two embeddings, if adults are assumed: %j", (assumeAdults, name, population) => {
    test.each([0, 0.0158, 0.001, 1e-5, 1])("with a false match rate of %d", async (maxFalseMatchRate) => {
      const one = stored(await from(1));
      const response = await compare({ source: one, target: one, maxFalseMatchRate, assumeAdults });
      const expected = maxFalseMatchRate
        ? RATES.thresholdFor(maxFalseMatchRate, [name])!
        : RATES.atMatchDistance([name]);
      const rate = {
        threshold: Math.fround(expected.distance),
        falseMatchRate: Math.fround(expected.falseMatchRate),
        extrapolated: expected.extrapolated,
      };
      // The rate of the request has single precision.
      expect(response.threshold).toBeCloseTo(rate.threshold, 6);
      expect(response.falseMatchRate / rate.falseMatchRate).toBeCloseTo(1, 6);
      expect(response.extrapolated).toBe(rate.extrapolated);
      expect(response.matches[0]).toMatchObject({
        ...{ distance: 0, matched: true, population, candidatesOnly: false },
        ...{ threshold: response.threshold, falseMatchRate: response.falseMatchRate },
      });
    });
  });

  test("by the age and gender of the faces, of which one is enough", async () => {
    const [one, three] = [inImage(1), inImage(3)].map((source, i) => ({
      ...source,
      box: i === 0 ? WOMAN_IN_1 : WOMAN_IN_3,
    }));
    const request = { source: one!, target: three!, maxFalseMatchRate: 0.001 };
    const expected = RATES.thresholdFor(0.001, ["women20To59"])!;
    for (const target of [three!, stored(await from(3))]) {
      const { matches } = await compare({ ...request, target });
      expect(matches[0]!.population).toBe(Population.WOMEN_20_TO_59);
      expect(matches[0]!.threshold).toBeCloseTo(expected.distance, 6);
      expect(matches[0]!.falseMatchRate).toBeCloseTo(0.001, 9);
    }
    const { matches } = await compare({ ...request, assumeAdults: true });
    expect(matches[0]!.population).toBe(Population.ADULTS);
    expect(matches[0]!.threshold).toBeGreaterThan(expected.distance);
  });

  test("gives candidates if no threshold holds the rate", async () => {
    const one = stored(await from(1));
    const { matches, threshold, falseMatchRate } = await compare({
      ...{ source: one, target: one },
      maxFalseMatchRate: 1e-7,
    });
    const smallest = RATES.at(RATES.minDistance, ["age10Up"])!;
    expect(matches[0]).toMatchObject({
      ...{ distance: 0, matched: false },
      ...{ candidatesOnly: true, candidatesReason: CandidatesReason.POPULATION },
    });
    expect(threshold).toBeCloseTo(smallest.distance, 6);
    expect(falseMatchRate).toBeCloseTo(smallest.falseMatchRate, 9);
    const adults = await compare({ source: one, target: one, maxFalseMatchRate: 1e-6, assumeAdults: true });
    expect(adults.matches[0]).toMatchObject({ matched: true, candidatesOnly: false });
  });

  test("rejects an embedding of another model and names both", async () => {
    const one = await from(1);
    const other = stored({ values: one.values, model: "sface-000000000000" });
    const response = compare({ source: stored(one), target: other });
    await expect(response).rejects.toThrow(/target\.embedding .*"sface-000000000000".*sface-/);
    await expect(response).rejects.toMatchObject({ code: 9 });
  });

  test.each([
    ["too few numbers", (values: number[]) => values.slice(1)],
    ["too many numbers", (values: number[]) => [...values, 0]],
    ["another norm", (values: number[]) => values.map((value) => 2 * value)],
    ["infinity", (values: number[]) => values.with(0, Number.POSITIVE_INFINITY)],
    ["no number", (values: number[]) => values.with(0, Number.NaN)],
  ])("rejects an embedding with %s", async (_, change) => {
    const one = await from(1);
    const changed = stored({ values: change(one.values), model: one.model });
    await expect(compare({ source: changed, target: stored(one) })).rejects.toThrow(
      "source.embedding.values",
    );
  });

  test.each([-0.1, 1.1, 1e-9, Number.NaN])("rejects the false match rate %d", async (maxFalseMatchRate) => {
    const one = stored(await from(1));
    await expect(compare({ source: one, target: one, maxFalseMatchRate })).rejects.toThrow(
      "max_false_match_rate",
    );
  });
});

describe("over REST", () => {
  const post = (path: string, body: string | FormData, key = USER) =>
    fetch(`http://127.0.0.1:${service.port}${path}`, {
      method: "POST",
      headers: { "x-api-key": key },
      body,
    });

  test("an error is a google.rpc.Status with its reason", async () => {
    const response = await post("/v1/images:analyze", JSON.stringify({ image: { content: "AAAA" } }));
    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({
      code: 3,
      message: "The image is neither a JPEG nor a PNG.",
      reason: "UNSUPPORTED_FORMAT",
      retryable: false,
      details: [
        {
          "@type": "type.googleapis.com/google.rpc.ErrorInfo",
          reason: "UNSUPPORTED_FORMAT",
          domain: "visage.dev",
        },
        { "@type": "type.googleapis.com/google.rpc.BadRequest" },
      ],
    });
    const unknown = await post("/v1/faces:compare", "{}", "nobody");
    expect(unknown.status).toBe(401);
    expect(await unknown.json()).toMatchObject({ code: 16, reason: "UNKNOWN_USER" });
  });

  test("images may be text in nested objects, and files in a multipart body", async () => {
    const base64 = photograph(1).toString("base64");
    const [x1, y1, x2, y2] = Object.values(WOMAN_IN_1);
    const json = { source: { image: base64, box: `${x1},${y1},${x2},${y2}` }, target: base64 };
    const form = new FormData();
    form.append("source", new Blob([photograph(1).slice()]), "one.jpg");
    form.append("target", new Blob([photograph(1).slice()]), "other.jpg");
    for (const body of [JSON.stringify(json), form]) {
      const response = await post("/v1/faces:compare", body);
      expect(response.status).toBe(200);
      const { matches } = (await response.json()) as { matches: { distance: number; matched: boolean }[] };
      expect(matches[0]).toMatchObject({ matched: true });
      expect(matches[0]!.distance).toBeLessThan(0.05);
      // Members with a default value are not left out.
      expect(matches.at(-1)).toHaveProperty("matched", false);
    }
  });

  test("a nested field at fault is named", async () => {
    const response = await post("/v1/faces:compare", JSON.stringify({ source: { image: "?" }, target: "?" }));
    expect(await response.json()).toMatchObject({ reason: "BAD_REQUEST", message: /source: image: / });
  });
});
