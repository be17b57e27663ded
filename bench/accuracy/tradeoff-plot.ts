import { MATCH_DISTANCE } from "../../src/core/index.ts";
import type { MeasuredPair } from "../../tools/support/evaluation.ts";
import { ratesAt } from "./verification.ts";

const WIDTH = 640;
const HEIGHT = 440;
const LEFT = 70;
const RIGHT = 30;
const TOP = 40;
const BOTTOM = 60;
const DECADES = [0.001, 0.01, 0.1, 1];

/**
 * Plots the detection error tradeoff as SVG: the false non-match rate against the false match rate over all thresholds,
 * both on a logarithmic scale.
 */
export function tradeoffPlot(pairs: readonly MeasuredPair[]): string {
  // A rate of 0 does not exist on a logarithmic scale; it is drawn as half a pair.
  const minRate = 0.5 / Math.max(1, pairs.filter(({ same }) => !same).length);
  const thresholds = Array.from({ length: 181 }, (_, i) => i * 0.005);
  const point = (threshold: number) => {
    const { fmr, fnmr } = ratesAt(threshold, pairs);
    return [xOf(fmr, minRate), yOf(fnmr, minRate)] as const;
  };
  const polyline = thresholds.map((threshold) => {
    const [x, y] = point(threshold);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const chosen = ratesAt(MATCH_DISTANCE, pairs);
  const [x, y] = point(MATCH_DISTANCE);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13">
<title>False non-match rate against false match rate</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<text x="${LEFT}" y="24" font-size="15">Verification errors, ${pairs.length} pairs</text>
${DECADES.map((rate) => gridLines(rate, minRate)).join("\n")}
<polyline fill="none" stroke="#1f5fbf" stroke-width="2" points="${polyline.join(" ")}"/>
<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="5" fill="#c2410c"/>
<text x="${(x + 9).toFixed(1)}" y="${(y - 7).toFixed(1)}" fill="#c2410c">distance ${MATCH_DISTANCE}: FNMR ${(100 * chosen.fnmr).toFixed(1)} %, FMR ${(100 * chosen.fmr).toFixed(2)} %</text>
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 16}" text-anchor="middle">false match rate (left edge: 0)</text>
<text transform="translate(18 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">false non-match rate</text>
</svg>
`;
}

function gridLines(rate: number, minRate: number): string {
  const x = xOf(rate, minRate).toFixed(1);
  const y = yOf(rate, minRate).toFixed(1);
  return [
    `<line x1="${x}" y1="${TOP}" x2="${x}" y2="${HEIGHT - BOTTOM}" stroke="#ddd"/>`,
    `<line x1="${LEFT}" y1="${y}" x2="${WIDTH - RIGHT}" y2="${y}" stroke="#ddd"/>`,
    `<text x="${x}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${100 * rate} %</text>`,
    `<text x="${LEFT - 8}" y="${Number(y) + 4}" text-anchor="end">${100 * rate} %</text>`,
  ].join("\n");
}

function xOf(rate: number, minRate: number): number {
  return LEFT + (WIDTH - LEFT - RIGHT) * logScale(rate, minRate);
}

function yOf(rate: number, minRate: number): number {
  return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * logScale(rate, minRate);
}

/** Maps minRate to 0 and a rate of 1 to 1. */
function logScale(rate: number, minRate: number): number {
  return Math.log(Math.max(rate, minRate) / minRate) / Math.log(1 / minRate);
}
