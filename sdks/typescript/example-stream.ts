// Analyses the photographs of a folder on one stream: node example-stream.js ADDRESS API_KEY FOLDER
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createVisageClient } from "@visage/client";

const [address, apiKey, folder] = process.argv.slice(2);
if (!address || !apiKey || !folder) {
  console.error("usage: example-stream ADDRESS API_KEY FOLDER");
  process.exit(2);
}

function* photos(folder: string) {
  for (const name of readdirSync(folder))
    if (/\.(jpe?g|png)$/i.test(name)) yield { key: name, image: { path: join(folder, name) } };
}

const visage = createVisageClient({ address, apiKey });
try {
  for await (const { key, response, error } of visage.analyzeImages(photos(folder))) {
    if (error) console.error(`${key}: ${error.reason} ${error.message}`);
    else console.log(`${key}: ${response.faces.length} faces`);
  }
} finally {
  visage.close();
}
