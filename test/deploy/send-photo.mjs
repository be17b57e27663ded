// Waits until a health check succeeds, then sends a photo and prints the response: send-photo.mjs HEALTHCHECK PHOTO
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const [healthcheck, photo] = process.argv.slice(2);
const deadline = Date.now() + 60_000;
while (spawnSync(process.execPath, [healthcheck]).status !== 0) {
  if (Date.now() > deadline) throw new Error("The service does not become ready.");
  await sleep(200);
}
const body = new FormData();
body.set("image_attr", new Blob([readFileSync(photo)]));
const { VISAGE_PORT: port, VISAGE_TRIAL_USER: user } = process.env;
const response = await fetch(`http://127.0.0.1:${port}/get_image_attr`, {
  method: "POST",
  headers: { user_id: user },
  body,
});
process.stdout.write(await response.text());
