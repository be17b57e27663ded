// The program of a worker process: an analyzer that gets its tasks by messages and runs one at a time. Only the pool
// starts it.
import {
  type AnalyzerOptions,
  openPartialAnalyzer,
  type PartialAnalyzer,
  type Stage,
} from "../core/index.ts";
import {
  type Job,
  type Operation,
  packAnalysis,
  type Results,
  serializeError,
  type Task,
  type TaskResult,
  type WorkerRequest,
  type WorkerResponse,
} from "./worker-messages.ts";

// A terminal sends Ctrl-C to the whole process group, but only the parent decides when to stop.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});

// This also ends the process if the parent has died.
process.on("disconnect", () => process.exit());

process.on("message", ({ id, ...request }: WorkerRequest) => {
  if (request.type === "cancel") return cancel(id);
  tasks.push({ id, task: request });
  if (tasks.length === 1) runTasks().catch(crash);
});

/** Tasks that have not ended. The first one is running. */
const tasks: { readonly id: number; readonly task: Task }[] = [];

let partial: PartialAnalyzer | undefined;
/** Cancels the running task. */
let controller = new AbortController();

type OnStage = (stage: Stage, milliseconds: number) => void;

/** Runs tasks until none is left. */
async function runTasks(): Promise<void> {
  for (let [first] = tasks; first; [first] = tasks) {
    controller = new AbortController();
    const result = await runTask(first.task, controller.signal);
    tasks.shift();
    send({ id: first.id, result });
  }
}

/** Errors of a task are part of its result, so any other error is a bug in this program. */
function crash(error: unknown): void {
  console.error(error);
  process.exit(1);
}

function cancel(id: number): void {
  const index = tasks.findIndex((task) => task.id === id);
  if (index === 0) controller.abort();
  else if (index > 0) {
    tasks.splice(index, 1);
    send({ id });
  }
}

async function runTask(task: Task, signal: AbortSignal): Promise<TaskResult> {
  const stages: [Stage, number][] = [];
  try {
    const value =
      task.type === "open"
        ? await open(task.options)
        : await runJob(task.job, signal, (...stage) => stages.push(stage));
    return { ok: true, value, stages };
  } catch (error) {
    return { ok: false, error: serializeError(error), stages };
  }
}

function send(response: WorkerResponse): void {
  // Sending fails only if the parent has closed the channel, and then `disconnect` follows.
  process.send?.(response, undefined, undefined, () => {});
}

async function open(options: AnalyzerOptions): Promise<string> {
  partial = await openPartialAnalyzer(options);
  return partial.identity;
}

async function runJob(
  { operation, image, options, targets }: Job,
  signal: AbortSignal,
  onStage: OnStage,
): Promise<Results[Operation]> {
  if (!partial) throw new Error("The worker got a job before it was opened.");
  const callOptions = { ...options, signal, onStage };
  return operation === "analyze"
    ? packAnalysis(await partial.analyze(image, callOptions, targets))
    : partial.embed(image, callOptions);
}
