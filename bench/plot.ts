/** One line of a plot. */
export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** A line plot whose y axis starts at 0. */
export interface Plot {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly lines: readonly Line[];
  /** Uses a base-2 logarithmic x axis with ticks only at the given values. */
  readonly isLog2?: boolean;
}

const WIDTH = 720;
const HEIGHT = 400;
const LEFT = 70;
const RIGHT = 190;
const TOP = 46;
const BOTTOM = 56;
const TICKS = 6;

/** The Okabe-Ito palette: safe for colour-blind readers, and visible on white and on black. */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/** Light and dark colour scheme. */
const STYLE = `.background{fill:#fff}.grid{stroke:#ddd}text{fill:#222}
@media (prefers-color-scheme:dark){.background{fill:#16181c}.grid{stroke:#3a3d44}text{fill:#ddd}}`;

/** Draws a plot as SVG. */
export function drawPlot({ title, xLabel, yLabel, lines, isLog2 = false }: Plot): string {
  const points = lines.flatMap((line) => line.points);
  const xs = points.map(([x]) => x);
  const xTicks = isLog2 ? [...new Set(xs)].toSorted((one, other) => one - other) : ticksUpTo(Math.max(...xs));
  const yTicks = ticksUpTo(Math.max(...points.map(([, y]) => y)));
  const xOf = createScale(xTicks, LEFT, WIDTH - RIGHT, isLog2 ? Math.log2 : (x) => x);
  const yOf = createScale(yTicks, HEIGHT - BOTTOM, TOP, (y) => y);
  const middle = (TOP + HEIGHT - BOTTOM) / 2;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13">
<title>${title}</title>
<style>${STYLE}</style>
<rect class="background" width="${WIDTH}" height="${HEIGHT}"/>
<text x="${LEFT}" y="26" font-size="15">${title}</text>
${xTicks.map((x) => xTick(x, xOf(x))).join("\n")}
${yTicks.map((y) => yTick(y, yOf(y))).join("\n")}
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 14}" text-anchor="middle">${xLabel}</text>
<text transform="translate(18 ${middle}) rotate(-90)" text-anchor="middle">${yLabel}</text>
${lines.map((line, i) => drawLine(line, COLOURS[i % COLOURS.length]!, xOf, yOf)).join("\n")}
${lines.map(({ name }, i) => legendEntry(name, COLOURS[i % COLOURS.length]!, i)).join("\n")}
</svg>
`;
}

type Scale = (value: number) => number;

/** Maps values between the first and the last tick to pixels, after a transformation. */
function createScale(ticks: readonly number[], from: number, to: number, transform: Scale): Scale {
  const [first, last] = [transform(ticks[0]!), transform(ticks.at(-1)!)];
  return (value) => from + ((to - from) * (transform(value) - first)) / (last - first || 1);
}

/** Ticks at round numbers from 0 to at least the largest value. */
function ticksUpTo(largest: number): number[] {
  const rough = (largest || 1) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough)!;
  return Array.from({ length: Math.ceil(largest / step) + 1 || 2 }, (_, i) => i * step);
}

function xTick(value: number, x: number): string {
  return `<line class="grid" x1="${round(x)}" y1="${TOP}" x2="${round(x)}" y2="${HEIGHT - BOTTOM}"/>
<text x="${round(x)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${formatTick(value)}</text>`;
}

function yTick(value: number, y: number): string {
  return `<line class="grid" x1="${LEFT}" y1="${round(y)}" x2="${WIDTH - RIGHT}" y2="${round(y)}"/>
<text x="${LEFT - 8}" y="${round(y + 4)}" text-anchor="end">${formatTick(value)}</text>`;
}

function drawLine({ points }: Line, colour: string, xOf: Scale, yOf: Scale): string {
  const coordinates = points.map(([x, y]) => `${round(xOf(x))},${round(yOf(y))}`);
  return `<polyline fill="none" stroke="${colour}" stroke-width="2" stroke-linejoin="round" points="${coordinates.join(" ")}"/>`;
}

function legendEntry(name: string, colour: string, index: number): string {
  const [x, y] = [WIDTH - RIGHT + 18, TOP + 8 + 22 * index];
  return `<line x1="${x}" y1="${y}" x2="${x + 22}" y2="${y}" stroke="${colour}" stroke-width="3"/>
<text x="${x + 30}" y="${y + 4}">${name}</text>`;
}

function formatTick(value: number): string {
  return String(Number(value.toPrecision(6)));
}

function round(value: number): string {
  return value.toFixed(1);
}
