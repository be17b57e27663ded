// What the programs in TypeScript share.
import { readFileSync } from "node:fs";
import { basename } from "node:path";

export const baseUrl = process.env.VISAGE_URL!;
export const key = process.env.VISAGE_USER_ID!;
export const boxes = process.env.VISAGE_BOXES!.split(" ");

const paths = [process.env.VISAGE_PHOTO_1!, process.env.VISAGE_PHOTO_2!] as const;
export const [file1, file2] = paths.map((path) => new File([readFileSync(path)], basename(path))) as [
  File,
  File,
];
export const [text1, text2] = paths.map((path) => readFileSync(path).toString("base64")) as [string, string];
