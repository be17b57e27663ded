/** Markers, chunk types and prefixes of JPEG, PNG, EXIF and ICC profiles. */
// biome-ignore format: a table
export const IMAGE_DICTIONARY = encodeTokens([
  "\xff\xd8", "\xff\xd9", "\xff\xda", "\xff\xc0", "\xff\xc2", "\xff\xc4", "\xff\xc9", "\xff\xdb", "\xff\xdd",
  "\xff\xdc", "\xff\xd0", "\xff\xe1", "\xff\xe2", "\xff\xee", "\xff\0",
  "MM\0*\0\0\0\x08", "II*\0\x08\0\0\0", "\x01\x12\0\x03\0\0\0\x01", "Exif\0\0", "ICC_PROFILE\0", "Adobe", "JFIF\0",
  "IHDR", "PLTE", "tRNS", "IDAT", "IEND", "iCCP", "eXIf", "zTXt", "acTL",
]);

/** Tokens of multipart bodies, forms, JSON and queries. */
// biome-ignore format: a table
export const TEXT_DICTIONARY = encodeTokens([
  "\r\n", "\n", "\r\n\r\n", "--X", "--X--", '"', "'", "\\", "{", "}", "[", "]", ":", ",", "&", "=", "%", "+", ";", "\0",
  "%00", "%ff", "%u0000", "\\u0000", "\\ud800", "\xef\xbb\xbf", "\xe2\x80\xa8", "\xff", "\xf0\x9f\x98\x80",
  "null", "true", "-1", "1e999", "NaN", "{}", "__proto__", "constructor", "img", "bboxes", "<x>",
  "data:image/png;base64,", "http://127.0.0.1:1/", "file:///",
  "Content-Disposition: form-data; name=img", 'filename="', "Content-Type: ",
  "9".repeat(400), "[".repeat(300), "a=b&".repeat(300),
]);

/** Tokens of an HTTP/1.1 request head. */
// biome-ignore format: a table
export const HTTP_DICTIONARY = encodeTokens([
  "\r\n", "\n", "\r", "\0", " ", "\t", ":", "\r\n ", "\r\n\r\n", "?", "#", "%", "//", "/../", "\xe9", "http://host",
  "HTTP/1.0", "HTTP/2.0", "HTTP/9.9", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET ", "HEAD ", "CONNECT ", "OPTIONS * ",
  "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip, chunked\r\n", "ffffffff\r\n", "0\r\n\r\n",
  "Content-Length: 5\r\n", "Content-Length: -1\r\n", "Content-Length: 99999999999999999999\r\n",
  "Content-Encoding: gzip\r\n", "Content-Type: application/grpc\r\n", "Expect: 100-continue\r\n", "Expect: x\r\n",
  "Upgrade: h2c\r\n", "Connection: upgrade, close\r\n", "Host: \r\n", "Origin: null\r\n", "user_id: x\r\n",
  "x-request-id: \xff\r\n", "connect-timeout-ms: 1\r\n", "grpc-timeout: 1n\r\n", `x: ${"y".repeat(20_000)}\r\n`,
]);

function encodeTokens(tokens: readonly string[]): readonly Buffer[] {
  return tokens.map((token) => Buffer.from(token, "latin1"));
}
