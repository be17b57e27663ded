import type { AnalyzeOptions } from "./analyze-options.ts";
import { type CommandContext, EXIT_CODES, type Interruption, printError } from "./command.ts";
import type { AnalyzedPhoto } from "./photo-analyzer.ts";
import { REPORT_FORMATS, type ReportFormat } from "./report-formats.ts";
import type { WrittenResults } from "./result-file.ts";

/** What `visage analyze` has done. */
export interface Totals {
  photos: number;
  faces: number;
  /** Photos that could not be analyzed. */
  failures: number;
  drawingFailures: number;
}

/** Adds a photo to the totals. */
export function countResult({ result, drawingError }: AnalyzedPhoto, totals: Totals): void {
  totals.photos++;
  if ("error" in result) totals.failures++;
  else totals.faces += result.analysis.faces.length;
  if (drawingError !== undefined) totals.drawingFailures++;
}

/** What the summary of a command needs. */
export interface End {
  readonly totals: Totals;
  /** The results that were written before. */
  readonly written: WrittenResults | undefined;
  readonly options: AnalyzeOptions;
  readonly context: CommandContext;
  readonly signal: AbortSignal;
}

/** Prints a summary if the results are not all on the screen. Returns the exit code. */
export function reportEnd({ totals, written, options, context, signal }: End, failure?: Error): number {
  const { photos, faces, drawingFailures } = totals;
  const { output, server } = options;
  const format: ReportFormat = REPORT_FORMATS[options.format];
  const failures = totals.failures + (written?.failures ?? 0);
  const before = written?.files.size ?? 0;
  if (output !== undefined) {
    const note = before > 0 ? `, and ${before} photos from before` : "";
    context.stderr.write(`Wrote ${output}: ${photos} photos, ${faces} faces${note}\n`);
  }
  // Without entries for failed photos, the reason of a single one stands right above.
  if (failures > 0 && (format.hasErrors || before + photos > 1)) {
    const note = format.hasErrors ? '; "error" in the output has the reasons' : "";
    printError(context, `${failures} of ${before + photos} photos failed${note}`);
  }
  const advice = output !== undefined && format.isResumable ? "; continue with --resume" : "";
  if (signal.aborted) {
    printError(context, `Interrupted after ${photos} photos${advice}`);
    return (signal.reason as Interruption).exitCode;
  }
  if (failure) {
    const reason = advice ? failure.message.replace(/\.$/, "") : failure.message;
    printError(context, `${server?.address}: ${reason}${advice}`);
    return EXIT_CODES.failure;
  }
  return failures + drawingFailures > 0 ? EXIT_CODES.failure : EXIT_CODES.ok;
}
