import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  type AnalyzeImageResponse,
  type AnalyzeImagesResponse,
  FaceAnalysisService,
  type Feature,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { sleep } from "../client/abort.ts";
import { Http2Sessions } from "../client/http2-sessions.ts";
import { type VisageError, visageErrorFromStatus } from "../client/visage-error.ts";
import { isAccountError, isPhotoError, streamErrorFrom } from "./stream-error.ts";

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
  readonly reject: (error: Error) => void;
  /** The image, once somebody has begun to read it. */
  content: Promise<Content> | undefined;
  /** Errors of the service that may not be the fault of the image. */
  failures: number;
}

type Content = { readonly bytes: Uint8Array } | { readonly cause: Error };

/** Images that are read while the one before them is sent. */
const READ_AHEAD = 2;

/** How often to send an image that makes the service fail. It may be the cause. */
const MAX_FAILURES = 2;

/** Attempts to connect without a result in between: before the first result, when the address may be wrong, and later. */
const MAX_FIRST_ATTEMPTS = 3;
const MAX_ATTEMPTS = 10;
const INITIAL_DELAY_MS = 250;
const MAX_DELAY_MS = 10_000;
/** Delays are extended at random by up to this fraction, so that clients do not reconnect at the same time. */
const JITTER = 0.5;
/** The service may ask for a delay until the next month. Then the command ends instead. */
const MAX_REQUESTED_DELAY_MS = 60_000;

/** How long to wait for the service to end the stream after the last result. */
const MAX_CLOSE_MS = 5_000;

/**
 * Analyzes images over a stream of a running service. If the stream ends early, it opens another one and sends the images
 * again that have no result. Only images that are being sent are in memory.
 */
export class AnalysisStream {
  readonly #options: AnalysisStreamOptions;
  /** Jobs to send, in order. */
  readonly #waiting: Job[] = [];
  /** Jobs that were sent on the current stream, by key. */
  readonly #sent = new Map<string, Job>();
  #jobs = 0;
  #answered = 0;
  #failure: Error | undefined;
  #isEnded = false;
  readonly #abort = new AbortController();
  /** Called when something changes that a part of the stream may wait for. */
  #onChange: (() => void)[] = [];
  readonly #running: Promise<void>;

  constructor(options: AnalysisStreamOptions) {
    this.#options = options;
    const { signal } = options;
    const stop = () => this.#fail(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    this.#running = this.#run().finally(() => signal.removeEventListener("abort", stop));
  }

  /** Why the stream has given up; undefined as long as it has not. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /**
   * Analyzes an image. `read` is called when the image is about to be sent, and again if it must be sent again. Rejects
   * with the error of the image, that of `read`, or that of the stream.
   */
  analyze(read: () => Promise<Uint8Array>): Promise<AnalyzeImageResponse> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ read, resolve, reject, content: undefined, failures: 0 });
      this.#rejectAfterFailure();
      this.#notify();
    });
  }

  /** Ends the stream. Jobs without a result are rejected. */
  async close(): Promise<void> {
    this.#isEnded = true;
    this.#notify();
    if (this.#waiting.length + this.#sent.size > 0) this.#fail(new Error("The stream was closed."));
    const timer = setTimeout(() => this.#abort.abort(), MAX_CLOSE_MS);
    await this.#running;
    clearTimeout(timer);
  }

  async #run(): Promise<void> {
    for (let attempts = 0; await this.#untilJob(); ) {
      const answered = this.#answered;
      const error = await this.#exchange();
      if (this.#failure) return;
      const isTooLarge = error?.reason === "REQUEST_TOO_LARGE" && this.#sent.size > 0;
      if (isTooLarge) this.#rejectTooLarge(error);
      this.#sendAgain();
      if (this.#answered > answered || isTooLarge) attempts = 0;
      if (!error || isTooLarge) continue;
      const maxAttempts = this.#answered > 0 ? MAX_ATTEMPTS : MAX_FIRST_ATTEMPTS;
      if (!error.retryable || error.retryAfterMs > MAX_REQUESTED_DELAY_MS) this.#fail(error);
      else if (++attempts >= maxAttempts) this.#fail(giveUpError(error, attempts));
      else await this.#delay(error, attempts);
    }
  }

  /** Waits for a job. Returns false if there will be none. */
  async #untilJob(): Promise<boolean> {
    while (this.#waiting.length === 0 && !this.#isEnded && !this.#failure) await this.#untilChange();
    return this.#waiting.length > 0 && !this.#failure;
  }

  async #delay(error: VisageError, attempts: number): Promise<void> {
    const backoffMs = Math.min(MAX_DELAY_MS, INITIAL_DELAY_MS * 2 ** (attempts - 1));
    const delayMs = Math.max(error.retryAfterMs, backoffMs) * (1 + JITTER * Math.random());
    // The service ends a stream now and then, so that clients spread over replicas.
    if (attempts > 1) this.#options.onRetry(error, delayMs);
    // The loop sees the failure that has aborted the delay.
    await sleep(delayMs, this.#abort.signal).catch(() => {});
  }

  /** Sends jobs and receives results on one stream until it ends. Returns why it has ended early. */
  async #exchange(): Promise<VisageError | undefined> {
    const { address, ca, key } = this.#options;
    const sessionManager = new Http2Sessions(address, { ca });
    const transport = createGrpcTransport({ baseUrl: address, sessionManager });
    const sending = new AbortController();
    let rejection: VisageError | undefined;
    try {
      const responses = createClient(FaceAnalysisService, transport).analyzeImages(
        this.#requests(sending.signal),
        { signal: this.#abort.signal, headers: key === undefined ? {} : { authorization: `Bearer ${key}` } },
      );
      for await (const response of responses) {
        const error = this.#receive(response);
        if (!error) continue;
        // The results of the other jobs still come.
        rejection ??= error;
        sending.abort();
        this.#notify();
      }
      return rejection;
    } catch (fault) {
      return streamErrorFrom(fault);
    } finally {
      sending.abort();
      this.#notify();
      sessionManager.abort();
    }
  }

  async *#requests(signal: AbortSignal) {
    for (;;) {
      const job = await this.#nextJob(signal);
      if (!job) return;
      for (const next of [job, ...this.#waiting.slice(0, READ_AHEAD)]) next.content ??= readContent(next);
      const content = await job.content!;
      job.content = undefined;
      if ("cause" in content) job.reject(content.cause);
      else if (signal.aborted) {
        this.#waiting.unshift(job);
        this.#rejectAfterFailure();
        this.#notify();
        return;
      } else {
        const key = `${this.#jobs++}`;
        this.#sent.set(key, job);
        const image = { source: { case: "content" as const, value: content.bytes } };
        yield { key, request: { image, features: [...this.#options.features] } };
      }
    }
  }

  /** Waits for the next job to send. Returns undefined when the sending ends. */
  async #nextJob(signal: AbortSignal): Promise<Job | undefined> {
    for (;;) {
      if (signal.aborted || this.#failure) return undefined;
      const job = this.#waiting.shift();
      if (job || this.#isEnded) return job;
      await this.#untilChange();
    }
  }

  /** Handles a result. Returns an error that concerns all jobs; the job is then sent again. */
  #receive({ key, result }: AnalyzeImagesResponse): VisageError | undefined {
    const job = this.#sent.get(key);
    if (!job || !result.case) return undefined;
    const error = result.case === "error" ? visageErrorFromStatus(result.value) : undefined;
    if (error && isAccountError(error)) {
      this.#fail(error);
      return undefined;
    }
    this.#sent.delete(key);
    if (error && (!isPhotoError(error) || (error.retryable && ++job.failures < MAX_FAILURES))) {
      this.#waiting.unshift(job);
      return error;
    }
    this.#answered++;
    if (result.case === "response") job.resolve(result.value);
    else job.reject(error!);
    return undefined;
  }

  /**
   * Rejects the job whose image is larger than the service accepts, which ends the stream. The service reads images in
   * order and answers all that it has read, so it is the first without a result.
   */
  #rejectTooLarge(error: VisageError): void {
    const [[key, job] = []] = this.#sent;
    job?.reject(error);
    this.#sent.delete(key!);
  }

  #sendAgain(): void {
    this.#waiting.unshift(...this.#sent.values());
    this.#sent.clear();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#rejectAfterFailure();
    this.#abort.abort(error);
    this.#notify();
  }

  #rejectAfterFailure(): void {
    if (!this.#failure) return;
    this.#sendAgain();
    for (const job of this.#waiting.splice(0)) job.reject(this.#failure);
  }

  #untilChange(): Promise<void> {
    return new Promise((resolve) => this.#onChange.push(resolve));
  }

  #notify(): void {
    for (const resolve of this.#onChange.splice(0)) resolve();
  }
}

function readContent({ read }: Job): Promise<Content> {
  return read().then(
    (bytes) => ({ bytes }),
    (cause: Error) => ({ cause }),
  );
}

function giveUpError(error: VisageError, attempts: number): Error {
  return new Error(`${error.message} (after ${attempts} attempts)`, { cause: error });
}
