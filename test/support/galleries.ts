import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect } from "vitest";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import type { FaceSourceSchema } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { readCalibration } from "../../src/core/index.ts";
import { randomVectors } from "./vectors.ts";

/** The identity of the service's networks. */
export const MODEL = readCalibration().model;

export type GalleryClient = Client<typeof GalleryService>;

/** Creates a gRPC client of the galleries of a user, on one connection. */
export function createGalleryClient({ port }: { readonly port: number }, user: string): GalleryClient {
  const transport = createGrpcTransport({
    baseUrl: `http://127.0.0.1:${port}`,
    interceptors: [
      (next) => (request) => {
        request.header.set("x-api-key", user);
        return next(request);
      },
    ],
  });
  return createClient(GalleryService, transport);
}

/** A person with one face, as the requests of EnrolFace and ImportFaces have it. */
export interface TestPerson {
  readonly personId: string;
  readonly faceId: string;
  readonly values: number[];
}

/** People with random templates, which are all far from each other. The same seed gives the same people. */
export function testPeople(count: number, seed: number, prefix = "p"): TestPerson[] {
  return randomVectors(count, seed).map((vector, i) => ({
    personId: `${prefix}${i}`,
    faceId: "f",
    values: [...vector],
  }));
}

/** The source of a request that has an embedding. */
export function embeddingSource(values: number[]): MessageInitShape<typeof FaceSourceSchema> {
  return { source: { case: "embedding", value: { values, model: MODEL } } };
}

/** Enrols a person by its embedding. */
export function enrol(client: GalleryClient, galleryId: string, { personId, faceId, values }: TestPerson) {
  return client.enrolFace({ galleryId, personId, faceId, source: embeddingSource(values) });
}

/** The ids of the people who have exactly this template. */
export async function identify(
  client: GalleryClient,
  galleryId: string,
  { values }: TestPerson,
): Promise<string[]> {
  const { faces } = await client.identifyFaces({
    galleryId,
    source: embeddingSource(values),
    maxResults: 10,
    maxDistance: 0.01,
  });
  return faces[0]!.matches.map(({ personId }) => personId);
}

/** Returns the code and the reason of the error with which a call fails. */
export async function errorOf(call: Promise<unknown>): Promise<[string, string | undefined]> {
  const error = await call.then(
    () => expect.fail("The call succeeded."),
    (fault: unknown) => ConnectError.from(fault),
  );
  return [Code[error.code]!, error.findDetails(ErrorInfoSchema)[0]?.reason];
}
