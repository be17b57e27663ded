// The configuration of hey-api: a client that sends text, and one that sends files, as docs/clients.md says.
const input = process.env.VISAGE_DOCUMENT;

// biome-ignore lint/style/noDefaultExport: hey-api reads the default export.
export default [
  { input, output: "hey-text" },
  {
    input,
    output: "hey-files",
    parser: {
      patch: {
        operations: (_method, _path, { requestBody }) => delete requestBody?.content["application/json"],
      },
    },
  },
];
