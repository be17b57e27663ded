// The program of a worker process: an analyzer that is told its tasks by messages, and does one at a time.
// It is started by the pool, and by nothing else.
import type { ResumableAnalyzer } from "../core/analyzer.ts";
import { createSyntheticFace } from "../core/image/synthetic-face.ts";
import { WORKER_PART_LIMITS } from "../core/partial-work.ts";
import type { Analyzer, AnalyzerOptions, Stage } from "../core/types.ts";
import {
  type Answer,
  type Job,
  type Operation,
  plainFromError,
  type Reply,
  type Request,
  type Results,
  sentFromPart,
  type Task,
} from "./worker-messages.ts";

// Ctrl-C reaches the whole process group; when to stop is for the parent to say.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});

// Also when the parent has died: nobody else would end this process.
process.on("disconnect", () => process.exit());

process.on("message", ({ number, ...request }: Request) => {
  if (request.type === "leave") return leave(number);
  tasks.push({ number, task: request });
  // What a task throws is part of its reply; anything else is a fault of this program, for the parent to notice.
  if (tasks.length === 1) work().catch(fail);
});

/** What is to be done; the first has begun. */
const tasks: { readonly number: number; readonly task: Task }[] = [];

let resumable: ResumableAnalyzer | undefined;
let stopping = new AbortController();

type OnStage = (stage: Stage, milliseconds: number) => void;

/** Does all tasks, also those that come meanwhile. */
async function work(): Promise<void> {
  for (let [first] = tasks; first; [first] = tasks) {
    stopping = new AbortController();
    const reply = await replyTo(first.task, stopping.signal);
    tasks.shift();
    send({ number: first.number, reply });
  }
}

function fail(fault: unknown): void {
  console.error(fault);
  process.exit(1);
}

function leave(number: number): void {
  const place = tasks.findIndex((one) => one.number === number);
  if (place === 0) stopping.abort();
  else if (place > 0) {
    tasks.splice(place, 1);
    send({ number });
  }
}

async function replyTo(task: Task, signal: AbortSignal): Promise<Reply> {
  const stages: [Stage, number][] = [];
  try {
    const value =
      task.type === "open"
        ? await open(task.options)
        : await run(task.job, signal, (...stage) => stages.push(stage));
    return { ok: true, value, stages };
  } catch (error) {
    return { ok: false, error: plainFromError(error), stages };
  }
}

function send(answer: Answer): void {
  // An answer that nobody takes any more is no fault: `disconnect` follows.
  process.send?.(answer, undefined, undefined, () => {});
}

async function open({ modelsDir, digests, limits }: AnalyzerOptions): Promise<string> {
  // Not imported above: loading native code takes a while, in which a signal would still end the process.
  const { createAnalyzer, createResumableAnalyzer } = await import("../core/analyzer.ts");
  const { openNetworks } = await import("../core/networks.ts");
  const { default: sharp } = await import("sharp");
  const networks = await openNetworks(modelsDir, digests);
  resumable = createResumableAnalyzer(networks, limits ?? {}, WORKER_PART_LIMITS);
  const drawing = createSyntheticFace();
  // As large as a photo, so that the first one's memory has been taken.
  const frame = sharp(drawing).resize({ width: 640, height: 480, fit: "contain" });
  const photo = await frame.toColourspace("srgb").jpeg().toBuffer();
  // Whatever the limits are for others' pictures.
  const analyzer = createAnalyzer(networks);
  await warmUp(analyzer, [drawing, photo]);
  return analyzer.identity;
}

async function run(
  { operation, image, options, checkpoint }: Job,
  signal: AbortSignal,
  onStage: OnStage,
): Promise<Results[Operation]> {
  if (!resumable) throw new Error("a job came before the analyzer was open");
  const callOptions = { ...options, signal, onStage };
  return operation === "analyze"
    ? sentFromPart(await resumable.analyze(image, callOptions, checkpoint))
    : resumable.embed(image, callOptions, checkpoint);
}

/** Runs every decoder, step and network, as the first time is slower: memory is taken, code compiled. */
async function warmUp({ analyze }: Analyzer, pictures: readonly Uint8Array[]): Promise<void> {
  for (const picture of pictures) {
    const { faces } = await analyze(picture, { vectors: true });
    if (faces.length === 0) throw new Error("the networks see no face in the picture that they are tried on");
  }
}
