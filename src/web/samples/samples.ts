import { curlSample } from "./curl.ts";
import { goSample } from "./go.ts";
import { grpcurlSample } from "./grpcurl.ts";
import { javaSample } from "./java.ts";
import { pythonSample } from "./python.ts";
import type { SampleDestination, SampleRequest } from "./sample-request.ts";
import { typescriptSample } from "./typescript.ts";

type Write = (request: SampleRequest, destination: SampleDestination) => string | undefined;

/** A language in which samples are written. */
export interface SampleLanguage {
  readonly id: string;
  readonly name: string;
  /** The comment that begins each sample and says how to install the client. */
  readonly install?: string;
  /** Writes a request. Undefined if the language's client lacks the operation. */
  readonly write: Write;
}

/** All languages, in the order in which they are offered. */
export const SAMPLE_LANGUAGES: readonly SampleLanguage[] = [
  { id: "curl", name: "curl", write: curlSample },
  { id: "grpcurl", name: "grpcurl", write: grpcurlSample },
  withClient("python", "Python", "# pip install visage-client", pythonSample),
  withClient("typescript", "TypeScript", "// npm install @visage/client", typescriptSample),
  withClient("go", "Go", "// go get github.com/visage-face/visage/sdks/go", goSample),
  withClient("java", "Java", "// Maven: dev.visage:visage-client", javaSample),
];

function withClient(id: string, name: string, install: string, write: Write): SampleLanguage {
  return {
    id,
    name,
    install,
    write: (...args) => {
      const code = write(...args);
      return code === undefined ? undefined : `${install}\n${code}`;
    },
  };
}
