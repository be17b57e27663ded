import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  type AnalyzeImageResponse,
  FaceAnalysisService,
  type Feature,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { Http2Sessions } from "../client/http2-sessions.ts";
import { ImageStream, type ItemResult } from "../client/image-stream.ts";
import { apiKeyInterceptors } from "../client/operations.ts";
import { Outbox } from "../client/outbox.ts";
import type { VisageError } from "../client/visage-error.ts";
import { isAccountError, isPhotoError } from "./stream-error.ts";
import { StreamReconnect } from "./stream-reconnect.ts";

/** The service that a stream calls, and what to ask it for. */
export interface AnalysisStreamOptions {
  /** URL of the service without a final slash. */
  readonly address: string;
  readonly key: string | undefined;
  /** Certificates of the authorities to trust, as PEM; those of Node by default. */
  readonly ca: string | Buffer | undefined;
  readonly features: readonly Feature[];
  /** Stops everything when it is aborted. */
  readonly signal: AbortSignal;
  /** Called before another attempt to connect, if the one before it had no result. */
  readonly onRetry: (error: Error, delayMs: number) => void;
}

/** An image that has no result yet. */
interface Job {
  readonly read: () => Promise<Uint8Array>;
  readonly resolve: (response: AnalyzeImageResponse) => void;
  readonly reject: (error: unknown) => void;
  /** Errors of the service that may not be the fault of the image. */
  failures: number;
}

/** How often to send an image that makes the service fail. It may be the cause. */
const MAX_FAILURES = 2;

/** Images in memory: as many as a service processes of one stream at the same time. */
const MAX_IN_FLIGHT = 16;

/** How long to wait for a result before the connection is given up. */
const TIMEOUT_MS = 120_000;

/** How long to wait for the service to end the stream after the last result. */
const MAX_CLOSE_MS = 5_000;

/**
 * Analyzes images over a stream of a running service. If the stream ends early, it opens another one and sends the images
 * again that have no result.
 */
export class AnalysisStream {
  readonly #jobs = new Outbox<Job>();
  readonly #unfinished = new Set<Job>();
  #failure: Error | undefined;
  readonly #abort = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: AnalysisStreamOptions) {
    this.#running = this.#run(options);
  }

  /** Why the stream has given up; undefined as long as it has not. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /**
   * Analyzes an image. `read` is called when the image is about to be sent. Rejects with the error of the image, that of
   * `read`, or that of the stream.
   */
  analyze(read: () => Promise<Uint8Array>): Promise<AnalyzeImageResponse> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      const job = { read, resolve, reject, failures: 0 };
      this.#unfinished.add(job);
      this.#jobs.add(job);
    });
  }

  /** Ends the stream. Jobs without a result are rejected. */
  async close(): Promise<void> {
    this.#jobs.end();
    const closed = new Error("The stream was closed.");
    if (this.#unfinished.size > 0) this.#abort.abort(closed);
    const timer = setTimeout(() => this.#abort.abort(closed), MAX_CLOSE_MS);
    await this.#running;
    clearTimeout(timer);
  }

  async #run({ address, ca, key, features, signal, onRetry }: AnalysisStreamOptions): Promise<void> {
    const sessionManager = new Http2Sessions(address, { ca });
    const interceptors = apiKeyInterceptors(key);
    const transport = createGrpcTransport({ baseUrl: address, sessionManager, interceptors });
    const stream = new ImageStream<Job>({
      items: this.#jobs,
      prepare: async ({ read }) => ({
        image: { source: { case: "content", value: await read() } },
        features: [...features],
      }),
      open: createClient(FaceAnalysisService, transport).analyzeImages,
      limits: { timeoutMs: TIMEOUT_MS, retries: 0, maxInFlight: MAX_IN_FLIGHT },
      retry: new StreamReconnect(onRetry),
      shouldResend,
      signal: AbortSignal.any([signal, this.#abort.signal]),
    });
    try {
      for await (const result of stream.results()) this.#settle(result);
    } catch (error) {
      this.#fail(error as Error);
    } finally {
      sessionManager.abort();
    }
  }

  /** Passes a result on. Throws an error that every other image would have, too. */
  #settle({ item: job, outcome }: ItemResult<Job>): void {
    if ("error" in outcome && isAccountError(outcome.error)) throw outcome.error;
    this.#unfinished.delete(job);
    if ("response" in outcome) job.resolve(outcome.response);
    else job.reject(outcome.error.code === undefined ? outcome.error.cause : outcome.error);
  }

  #fail(error: Error): void {
    this.#failure = error;
    for (const job of this.#unfinished) job.reject(error);
    this.#unfinished.clear();
  }
}

/** Whether to send an image again: the service did not look at it, or failed for the first time. */
function shouldResend(job: Job, error: VisageError): boolean {
  if (isAccountError(error)) return false;
  return !isPhotoError(error) || (error.retryable && ++job.failures < MAX_FAILURES);
}
