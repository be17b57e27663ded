/** One line of a chart. */
export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** A chart of lines over a common axis, from zero upwards. */
export interface Plot {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly lines: readonly Line[];
  /** Puts each doubling of x equally far apart, and marks only the values that occur. */
  readonly doublings?: boolean;
}

const WIDTH = 720;
const HEIGHT = 400;
const LEFT = 70;
const RIGHT = 190;
const TOP = 46;
const BOTTOM = 56;
const TICKS = 6;

/** Colours that those who cannot tell red from green tell apart, and that show on white and on black. */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/** White paper or, for those who like it dark, nearly black. */
const STYLE = `.paper{fill:#fff}.grid{stroke:#ddd}text{fill:#222}
@media (prefers-color-scheme:dark){.paper{fill:#16181c}.grid{stroke:#3a3d44}text{fill:#ddd}}`;

/** Draws a chart as SVG. */
export function drawPlot({ title, xLabel, yLabel, lines, doublings = false }: Plot): string {
  const points = lines.flatMap((line) => line.points);
  const xs = points.map(([x]) => x);
  const xTicks = doublings
    ? [...new Set(xs)].toSorted((one, other) => one - other)
    : ticksUpTo(Math.max(...xs));
  const yTicks = ticksUpTo(Math.max(...points.map(([, y]) => y)));
  const xOf = scale(xTicks, LEFT, WIDTH - RIGHT, doublings ? Math.log2 : (x) => x);
  const yOf = scale(yTicks, HEIGHT - BOTTOM, TOP, (y) => y);
  const middle = (TOP + HEIGHT - BOTTOM) / 2;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13">
<title>${title}</title>
<style>${STYLE}</style>
<rect class="paper" width="${WIDTH}" height="${HEIGHT}"/>
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

/** Spreads what lies between the first and last tick over the pixels from one place to another. */
function scale(ticks: readonly number[], from: number, to: number, spread: Scale): Scale {
  const [first, last] = [spread(ticks[0]!), spread(ticks.at(-1)!)];
  return (value) => from + ((to - from) * (spread(value) - first)) / (last - first || 1);
}

/** Round numbers from zero to the first that is not below the largest value. */
function ticksUpTo(largest: number): number[] {
  const rough = (largest || 1) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough)!;
  return Array.from({ length: Math.ceil(largest / step) + 1 || 2 }, (_, i) => i * step);
}

function xTick(value: number, x: number): string {
  return `<line class="grid" x1="${round(x)}" y1="${TOP}" x2="${round(x)}" y2="${HEIGHT - BOTTOM}"/>
<text x="${round(x)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${label(value)}</text>`;
}

function yTick(value: number, y: number): string {
  return `<line class="grid" x1="${LEFT}" y1="${round(y)}" x2="${WIDTH - RIGHT}" y2="${round(y)}"/>
<text x="${LEFT - 8}" y="${round(y + 4)}" text-anchor="end">${label(value)}</text>`;
}

function drawLine({ points }: Line, colour: string, xOf: Scale, yOf: Scale): string {
  const places = points.map(([x, y]) => `${round(xOf(x))},${round(yOf(y))}`);
  return `<polyline fill="none" stroke="${colour}" stroke-width="2" stroke-linejoin="round" points="${places.join(" ")}"/>`;
}

function legendEntry(name: string, colour: string, index: number): string {
  const [x, y] = [WIDTH - RIGHT + 18, TOP + 8 + 22 * index];
  return `<line x1="${x}" y1="${y}" x2="${x + 22}" y2="${y}" stroke="${colour}" stroke-width="3"/>
<text x="${x + 30}" y="${y + 4}">${name}</text>`;
}

function label(value: number): string {
  return String(Number(value.toPrecision(6)));
}

function round(value: number): string {
  return value.toFixed(1);
}
