// Compares the person in a photograph with everybody in another: node example.js ADDRESS API_KEY ONE TWO
import { createVisageClient, VisageError } from "@visage/client";

const [address, apiKey, one, two] = process.argv.slice(2);
if (!address || !apiKey || !one || !two) {
  console.error("usage: example ADDRESS API_KEY ONE TWO");
  process.exit(2);
}

const visage = createVisageClient({ address, apiKey });
try {
  const { matches } = await visage.compareFaces({ path: one }, { path: two });
  for (const { matched, distance } of matches)
    console.log(`${matched ? "match" : "not a match"}: ${distance.toFixed(4)}`);
} catch (error) {
  if (!(error instanceof VisageError)) throw error;
  console.error(error.reason, error.message);
  process.exitCode = 1;
} finally {
  visage.close();
}
