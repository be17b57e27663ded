// Checks whether two photographs show the same person: node example.js ADDRESS API_KEY ONE TWO
import { createVisageClient, VisageError } from "@visage/client";

const [address, apiKey, one, two] = process.argv.slice(2);
if (!address || !apiKey || !one || !two) {
  console.error("usage: example ADDRESS API_KEY ONE TWO");
  process.exit(2);
}

const visage = createVisageClient({ address, apiKey });
try {
  const { isMatch, distance } = await visage.matchFaces({ path: one }, { path: two });
  console.log(`${isMatch ? "match" : "not a match"}: ${distance.toFixed(4)}`);
} catch (error) {
  if (!(error instanceof VisageError)) throw error;
  console.error(error.reason, error.message);
  process.exitCode = 1;
} finally {
  visage.close();
}
