// The program of a worker process: an analyzer that is told its jobs by messages, one at a time.
// It is started by the pool, and by nothing else.
import type { Analyzer, AnalyzerOptions, Stage } from "./analyzer.ts";
import { type Job, plainFromError, type Reply, type Request } from "./worker-messages.ts";

// Ctrl-C reaches the whole process group; when to stop is for the parent to say.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});

// Also when the parent has died: nobody else would end this process.
process.on("disconnect", () => process.exit());

process.on("message", (request: Request) => {
  if (request.type === "open") void answer(() => open(request.options));
  if (request.type === "run") void answer((...told) => run(request.job, ...told));
  if (request.type === "abort") current.abort();
});

let analyzer: Analyzer | undefined;
let current = new AbortController();

type OnStage = (stage: Stage, milliseconds: number) => void;

async function answer(work: (signal: AbortSignal, onStage: OnStage) => Promise<unknown>): Promise<void> {
  const stages: [Stage, number][] = [];
  current = new AbortController();
  try {
    const value = await work(current.signal, (...stage) => stages.push(stage));
    send({ ok: true, value, stages });
  } catch (error) {
    send({ ok: false, error: plainFromError(error), stages });
  }
}

function send(reply: Reply): void {
  // A reply that nobody takes any more is no fault: `disconnect` follows.
  process.send?.(reply, undefined, undefined, () => {});
}

async function open(options: AnalyzerOptions): Promise<string> {
  // Not imported above: loading native code takes a while, in which a signal would still end the process.
  const { openAnalyzer } = await import("./analyzer.ts");
  analyzer = await openAnalyzer(options);
  await warmUp(analyzer);
  return analyzer.identity;
}

function run({ operation, image, options }: Job, signal: AbortSignal, onStage: OnStage): Promise<unknown> {
  if (!analyzer) throw new Error("a job came before the analyzer was open");
  return analyzer[operation](image, { ...options, signal, onStage });
}

/** Runs every step and every network once, as the first time is slower: memory is taken, code compiled. */
async function warmUp({ analyze }: Analyzer): Promise<void> {
  const { faces } = await analyze(await drawnFace(), { vectors: true });
  if (faces.length === 0) throw new Error("the networks see no face in the picture that they are tried on");
}

const DRAWING_SIDE = 256;
const BACKGROUND = 60;

/** A face as grey ovals, each over those before: skin, eyes, brows, nose, mouth. */
const OVALS = [
  { x: 128, y: 128, width: 124, height: 160, grey: 200 },
  { x: 102, y: 112, width: 24, height: 10, grey: 50 },
  { x: 154, y: 112, width: 24, height: 10, grey: 50 },
  { x: 102, y: 96, width: 36, height: 8, grey: 80 },
  { x: 154, y: 96, width: 36, height: 8, grey: 80 },
  { x: 128, y: 140, width: 16, height: 12, grey: 150 },
  { x: 128, y: 170, width: 48, height: 14, grey: 100 },
];

/** A drawing that the networks take for a face: on a plain image the later ones would have nothing to do. */
async function drawnFace(): Promise<Uint8Array> {
  const { default: sharp } = await import("sharp");
  const pixels = Uint8Array.from({ length: DRAWING_SIDE ** 2 }, (_, i) =>
    greyAt(i % DRAWING_SIDE, Math.floor(i / DRAWING_SIDE)),
  );
  const raw = { width: DRAWING_SIDE, height: DRAWING_SIDE, channels: 1 } as const;
  return sharp(pixels, { raw }).png().toBuffer();
}

function greyAt(x: number, y: number): number {
  const top = OVALS.findLast(
    (oval) => ((x - oval.x) / oval.width) ** 2 + ((y - oval.y) / oval.height) ** 2 < 1 / 4,
  );
  return top?.grey ?? BACKGROUND;
}
