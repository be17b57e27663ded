import { MATCH_DISTANCE } from "../../src/core/index.ts";
import { type MeasuredPair, ratesAt } from "./verification.ts";

const WIDTH = 640;
const HEIGHT = 440;
const LEFT = 70;
const RIGHT = 30;
const TOP = 40;
const BOTTOM = 60;
const DECADES = [0.001, 0.01, 0.1, 1];

/** Draws misses against false matches over all thresholds, both on a logarithmic scale, as SVG. */
export function tradeoffPlot(pairs: readonly MeasuredPair[]): string {
  // A rate of zero cannot stand on a logarithmic scale: it is drawn at half of one pair.
  const least = 0.5 / Math.max(1, pairs.filter(({ same }) => !same).length);
  const thresholds = Array.from({ length: 181 }, (_, i) => i * 0.005);
  const curve = thresholds.map((threshold) => ratesAt(threshold, pairs));
  const place = (falseMatches: number, misses: number) =>
    `${xOf(falseMatches, least).toFixed(1)},${yOf(misses, least).toFixed(1)}`;
  const chosen = ratesAt(MATCH_DISTANCE, pairs);
  const [x, y] = place(chosen.falseMatches, chosen.misses).split(",");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13">
<title>Misses against false matches</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<text x="${LEFT}" y="24" font-size="15">Misses against false matches, ${pairs.length} pairs</text>
${DECADES.map((rate) => gridLines(rate, least)).join("\n")}
<polyline fill="none" stroke="#1f5fbf" stroke-width="2" points="${curve.map(({ falseMatches, misses }) => place(falseMatches, misses)).join(" ")}"/>
<circle cx="${x}" cy="${y}" r="5" fill="#c2410c"/>
<text x="${Number(x) + 9}" y="${Number(y) - 7}" fill="#c2410c">distance ${MATCH_DISTANCE}: ${(100 * chosen.misses).toFixed(1)} % misses, ${(100 * chosen.falseMatches).toFixed(2)} % false</text>
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 16}" text-anchor="middle">false matches (left edge: none)</text>
<text transform="translate(18 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">misses</text>
</svg>
`;
}

function gridLines(rate: number, least: number): string {
  const x = xOf(rate, least).toFixed(1);
  const y = yOf(rate, least).toFixed(1);
  return [
    `<line x1="${x}" y1="${TOP}" x2="${x}" y2="${HEIGHT - BOTTOM}" stroke="#ddd"/>`,
    `<line x1="${LEFT}" y1="${y}" x2="${WIDTH - RIGHT}" y2="${y}" stroke="#ddd"/>`,
    `<text x="${x}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${100 * rate} %</text>`,
    `<text x="${LEFT - 8}" y="${Number(y) + 4}" text-anchor="end">${100 * rate} %</text>`,
  ].join("\n");
}

function xOf(rate: number, least: number): number {
  return LEFT + (WIDTH - LEFT - RIGHT) * logShare(rate, least);
}

function yOf(rate: number, least: number): number {
  return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * logShare(rate, least);
}

function logShare(rate: number, least: number): number {
  return Math.log(Math.max(rate, least) / least) / Math.log(1 / least);
}
