import { bytesOf } from "./raw-http.ts";

/** Two images, as bytes and as URLs. */
export interface ReplayedImages {
  readonly bytes: readonly [Buffer, Buffer];
  readonly urls: readonly [string, string];
}

/** A request of a known program for `img_1` and `img_2`, without its request line and credentials. */
export interface ReplayedRequest {
  readonly program: string;
  /** What the program appends to the path. */
  readonly query?: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

const FIELDS = ["img_1", "img_2"] as const;
const CURL_BOUNDARY = "------------------------d74496d66958873e";
const PYTHON_BOUNDARY = "c7cbfdd911b4e720f1dd8f479c50bc7f";

/** The ways in which known programs of both generations send two images. */
export function replayedRequests({ bytes, urls }: ReplayedImages): readonly ReplayedRequest[] {
  const base64 = bytes.map((image) => image.toString("base64"));
  const json = JSON.stringify({ img_1: base64[0], img_2: base64[1] });
  const files = (head: (field: string) => readonly string[]) =>
    multipart(
      "X",
      FIELDS.map((field, i) => [head(field), bytes[i]!]),
    );
  return [
    {
      program: "Python requests with files",
      headers: [
        "User-Agent: python-requests/2.18.4",
        "Accept-Encoding: gzip, deflate",
        "Accept: */*",
        `Content-Type: multipart/form-data; boundary=${PYTHON_BOUNDARY}`,
      ],
      body: multipart(
        PYTHON_BOUNDARY,
        FIELDS.map((field, i) => [disposition(`"${field}"`, '"photo.jpg"'), bytes[i]!]),
      ),
    },
    {
      program: "Python requests with json",
      query: "?",
      headers: ["User-Agent: python-requests/2.18.4", "Content-Type: application/json"],
      body: Buffer.from(json),
    },
    {
      program: "Python requests with files and the content type of JSON",
      headers: ["Content-Type: application/json"],
      body: files((field) => disposition(`"${field}"`, '"photo.jpg"')),
    },
    {
      program: "Python requests with files and a content type without a boundary",
      headers: ["Content-Type: multipart/form-data"],
      body: files((field) => disposition(`"${field}"`, '"photo.jpg"')),
    },
    {
      program: "curl with a file and a URL",
      headers: [
        "User-Agent: curl/7.58.0",
        "Accept: */*",
        `Content-Type: multipart/form-data; boundary=${CURL_BOUNDARY}`,
      ],
      body: multipart(CURL_BOUNDARY, [
        [[...disposition('"img_1"', '"one.jpg"'), "Content-Type: image/jpeg"], bytes[0]],
        [disposition('"img_2"'), urls[1]],
      ]),
    },
    {
      program: "PHP with URLs as text parts",
      query: "?face_det=1",
      headers: [`Content-Type: multipart/form-data; boundary=${CURL_BOUNDARY}`],
      body: multipart(CURL_BOUNDARY, [
        [disposition('"img_1"'), urls[0]],
        [disposition('"img_2"'), urls[1]],
      ]),
    },
    {
      program: "PHP with Base64 as text parts",
      headers: [`Content-Type: multipart/form-data; boundary=${CURL_BOUNDARY}`],
      body: multipart(CURL_BOUNDARY, [
        [disposition('"img_1"'), base64[0]!],
        [disposition('"img_2"'), base64[1]!],
      ]),
    },
    {
      program: "jQuery with a form",
      headers: [
        "Origin: http://shop.test",
        "X-Requested-With: XMLHttpRequest",
        "Content-Type: application/x-www-form-urlencoded; charset=UTF-8",
      ],
      body: Buffer.from(FIELDS.map((field, i) => `${field}=${encodeURIComponent(base64[i]!)}`).join("&")),
    },
    {
      program: "a form whose Base64 has a literal +, which decodes to a space",
      headers: ["Content-Type: application/x-www-form-urlencoded"],
      body: Buffer.from(FIELDS.map((field, i) => `${field}=${base64[i]}`).join("&")),
    },
    { program: "JSON as text", headers: ["Content-Type: text/plain;charset=UTF-8"], body: Buffer.from(json) },
    { program: "JSON without a content type", headers: [], body: Buffer.from(json) },
    {
      program: "JavaScript with data URIs",
      query: "?lang=en",
      headers: ["Content-Type: application/json"],
      body: Buffer.from(
        JSON.stringify({
          img_1: `data:image/jpeg;base64,${base64[0]}`,
          img_2: `data:image/png;base64,${base64[1]}`,
        }),
      ),
    },
    {
      program: "Java with attachments and names without quotes",
      headers: ["Content-Type: multipart/form-data; boundary=X", "User-Agent: Java/1.8.0_151"],
      body: files((field) => [`Content-Disposition: attachment; name=${field}; filename=photo.jpg`]),
    },
    {
      program: "Node request with parts of a wrong type",
      headers: ["Content-Type: multipart/form-data; boundary=X"],
      body: multipart("X", [
        [[...disposition('"img_1"', '"a"'), "Content-Type: multipart/form-data"], bytes[0]],
        [[...disposition('"img_2"', '"a"'), "Content-Type: image/jpg"], bytes[1]],
      ]),
    },
  ];
}

function disposition(name: string, filename?: string): string[] {
  return [`Content-Disposition: form-data; name=${name}${filename ? `; filename=${filename}` : ""}`];
}

function multipart(
  boundary: string,
  parts: readonly (readonly [head: readonly string[], content: string | Uint8Array])[],
): Buffer {
  const encoded = parts.map(([head, content]) =>
    bytesOf(`--${boundary}\r\n${head.map((line) => `${line}\r\n`).join("")}\r\n`, content, "\r\n"),
  );
  return bytesOf(...encoded, `--${boundary}--\r\n`);
}
