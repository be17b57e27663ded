import { saveText } from "../../site/download.ts";
import { byId, make } from "../../site/elements.ts";
import { plural } from "../../site/words.ts";
import { adviceFor, titleOf, waitText } from "../advice.ts";
import { type AnalysisSettings, analyzePhoto } from "./analyze-photo.ts";
import { batchCsv, batchJson } from "./batch-export.ts";
import { type BatchItem, canRetry, countItems, MAX_PHOTOS } from "./batch-item.ts";
import { createBatchRow } from "./batch-row.ts";
import { createBatchRunner, type RunnerStatus } from "./batch-runner.ts";

/** What a batch needs from the page. */
export interface BatchActions {
  /** What the batch finds, in one sentence. */
  readonly description: string;
  /** The settings for the next photo. */
  settings(): AnalysisSettings;
  /** Shows one photo on its own. */
  open(file: File): void;
  /** Asks for the API key. */
  requireKey(): void;
  onClosed(): void;
}

/** A batch on the page. */
export interface Batch {
  /** Adds photos and starts. The notes say what is missing among them. */
  add(files: readonly File[], notes: readonly string[]): void;
}

/** Creates a batch and shows it before the form. */
export function createBatch(actions: BatchActions): Batch {
  const items: BatchItem[] = [];
  const updates = new Map<BatchItem, () => void>();
  const missing = new Set<string>();
  const view = drawBatch(actions.description);
  const showProgress = oncePerFrame(() => view.showProgress(items));
  const runner = createBatchRunner(items, {
    analyze: (item, signal) => analyzePhoto(item, actions.settings(), signal),
    onItem: (item) => {
      updates.get(item)?.();
      showProgress();
    },
    onStatus: (status) => {
      view.showStatus(status, items);
      if (status.name === "stopped" && status.reason?.facts.code === "4001") actions.requireKey();
    },
    onDefect: reportError,
  });
  view.toggle.addEventListener("click", () => {
    if (isActive(runner.status)) return runner.stop();
    // Every photo is done or failed: the button sends those again that can succeed.
    if (runner.status.name === "finished")
      for (const item of items.filter(canRetry)) {
        item.state = { name: "waiting" };
        updates.get(item)?.();
      }
    runner.start();
  });
  view.csv.addEventListener("click", () => saveText(batchCsv(items), "faces.csv", "text/csv"));
  view.json.addEventListener("click", () => saveText(batchJson(items), "faces.json", "application/json"));
  view.close.addEventListener("click", () => {
    runner.stop();
    view.root.remove();
    actions.onClosed();
  });
  const page = document.querySelector("main")!;
  page.prepend(view.root);
  return {
    add(files, notes) {
      const added = files.slice(0, MAX_PHOTOS - items.length);
      for (const file of added) {
        const item: BatchItem = { file, state: { name: "waiting" } };
        const row = createBatchRow(item, () => actions.open(file));
        items.push(item);
        updates.set(item, row.update);
        view.rows.append(row.element);
      }
      view.showProgress(items);
      runner.start();
      for (const note of notes) missing.add(note);
      if (added.length < files.length)
        missing.add(`A batch has at most ${MAX_PHOTOS} photos; the others were not added.`);
      view.missing.textContent = [...missing].join(" ");
      view.root.scrollIntoView({ block: "nearest" });
    },
  };
}

/** Returns a function that calls another one in the next frame, however often it is called before. */
function oncePerFrame(call: () => void): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      call();
    });
  };
}

function isActive({ name }: RunnerStatus): boolean {
  return name === "running" || name === "delayed";
}

function drawBatch(description: string) {
  const button = (text: string) => make("button", { type: "button" }, text);
  const [toggle, csv, json, close] = [
    button("Stop"),
    button("Download CSV"),
    button("Download JSON"),
    button("Close"),
  ];
  const summary = make("p", { class: "figure batch-summary" });
  const hint = make("p", { class: "hint" }, description);
  const missing = make("p", { class: "hides-empty", "aria-live": "polite" });
  const progress = make("progress", { "aria-label": "Progress of the batch" });
  const note = make("p", { class: "hides-empty", role: "alert" });
  const rows = make("tbody");
  const header = make(
    "tr",
    { class: "visually-hidden" },
    ...["Picture", "Photo", "Result", "Action"].map((name) => make("th", { scope: "col" }, name)),
  );
  const columns = make(
    "colgroup",
    {},
    ...["picture", "name", "result", "action"].map((name) => make("col", { class: `batch-${name}` })),
  );
  // The table scrolls, so it must be reachable by keyboard.
  const region = {
    class: "card batch-table",
    tabindex: 0,
    role: "region",
    "aria-label": "Photos of the batch",
  };
  const root = make(
    "section",
    { class: "panel batch", "aria-labelledby": "batch-title" },
    make("div", { class: "panel-top" }, make("h2", { id: "batch-title" }, "Batch"), summary),
    hint,
    missing,
    progress,
    note,
    make("div", { class: "actions" }, toggle, csv, json, close),
    make("div", region, make("table", {}, columns, make("thead", {}, header), rows)),
  );
  return {
    ...{ root, rows, missing, note, toggle, csv, json, close },
    showProgress(items: readonly BatchItem[]) {
      const { done, failed } = countItems(items);
      progress.max = items.length;
      progress.value = done + failed;
      summary.textContent = summaryText(items);
    },
    showStatus(status: RunnerStatus, items: readonly BatchItem[]) {
      note.textContent = noteText(status);
      toggle.hidden = status.name === "finished" && !items.some(canRetry);
      toggle.textContent = isActive(status)
        ? "Stop"
        : status.name === "stopped"
          ? "Continue"
          : "Retry failed";
      if (status.name === "finished")
        byId("status", HTMLParagraphElement).textContent = `Batch finished: ${summaryText(items)}.`;
    },
  };
}

function summaryText(items: readonly BatchItem[]): string {
  const { done, failed } = countItems(items);
  const faces = items.reduce(
    (count, { state }) => count + (state.name === "done" ? state.analysis.faces.length : 0),
    0,
  );
  const parts = [`${done + failed} of ${plural(items.length, "photo")}`, plural(faces, "face")];
  return [...parts, ...(failed > 0 ? [`${failed} failed`] : [])].join(" · ");
}

function noteText(status: RunnerStatus): string {
  if (status.name === "delayed") {
    const seconds = Math.max(1, Math.ceil((status.untilMs - Date.now()) / 1000));
    return `${status.reason} The batch continues in ${waitText(seconds)}.`;
  }
  if (status.name !== "stopped") return "";
  if (!status.reason) return "Stopped. The results so far are kept.";
  const { message, facts } = status.reason;
  const failure = { ...facts, message, httpStatus: facts.status };
  return `${titleOf(failure)} ${adviceFor(failure).text} Then continue.`;
}
