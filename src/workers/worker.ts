// The program of a worker process: an analyzer that gets its tasks by messages, one at a time. Only the pool starts it.
import {
  type AnalyzerOptions,
  openPartialAnalyzer,
  type PartialAnalyzer,
  type Stage,
} from "../core/index.ts";
import { connectToParent } from "../processes/parent.ts";
import {
  type Job,
  type Operation,
  packAnalysis,
  type Results,
  serializeError,
  type Task,
  type TaskResult,
  type WorkerRequest,
} from "./worker-messages.ts";

const send = connectToParent<WorkerRequest, TaskResult>((request) => {
  if (request.type === "cancel") controller.abort();
  else runTask(request).then(send, crash);
});

let partial: PartialAnalyzer | undefined;
/** Cancels the running task. */
let controller = new AbortController();

type OnStage = (stage: Stage, milliseconds: number) => void;

/** Errors of a task are part of its result, so any other error is a bug in this program. */
function crash(error: unknown): void {
  console.error(error);
  process.exit(1);
}

async function runTask(task: Task): Promise<TaskResult> {
  controller = new AbortController();
  const { signal } = controller;
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
