import { curlSample } from "./curl.ts";
import { goSample } from "./go.ts";
import { grpcurlSample } from "./grpcurl.ts";
import { javaSample } from "./java.ts";
import { pythonSample } from "./python.ts";
import type { SampleDestination, SampleRequest } from "./sample-request.ts";
import { typescriptSample } from "./typescript.ts";

/** A language in which samples are written. */
export interface SampleLanguage {
  readonly id: string;
  readonly name: string;
  /** Writes a request. Undefined if the language's client lacks the operation. */
  readonly write: (request: SampleRequest, destination: SampleDestination) => string | undefined;
}

/** All languages, in the order in which they are offered. */
export const SAMPLE_LANGUAGES: readonly SampleLanguage[] = [
  { id: "curl", name: "curl", write: curlSample },
  { id: "grpcurl", name: "grpcurl", write: grpcurlSample },
  { id: "python", name: "Python", write: pythonSample },
  { id: "typescript", name: "TypeScript", write: typescriptSample },
  { id: "go", name: "Go", write: goSample },
  { id: "java", name: "Java", write: javaSample },
];
