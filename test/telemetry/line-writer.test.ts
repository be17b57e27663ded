import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { LineWriter } from "../../src/telemetry/line-writer.ts";

const LINE = `${"x".repeat(1023)}\n`;
/** Capacity of the buffer in lines of 1 KiB. */
const BUFFER_LINES = 256;
/** Pause of the writer after a write that would block. */
const RETRY_DELAY_MS = 100;

/** Creates a writer and its reader. The reader accepts `maxBytes` per write; 0 fails with EAGAIN. */
function createReader() {
  const reader = {
    text: "",
    maxBytes: Number.POSITIVE_INFINITY,
    errorCode: undefined as string | undefined,
  };
  const writer = new LineWriter(
    (chunk, done) => {
      const bytes = Math.min(chunk.length, reader.maxBytes);
      const code = reader.errorCode ?? (bytes === 0 ? "EAGAIN" : undefined);
      if (code === undefined) reader.text += Buffer.from(chunk.subarray(0, bytes)).toString();
      setImmediate(() => done(code === undefined ? null : Object.assign(new Error(code), { code }), bytes));
    },
    (lines) => `${lines} dropped\n`,
  );
  return { reader, writer };
}

function useFakeTimeouts(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

describe("the line writer", () => {
  test("writes lines in order", async () => {
    const { reader, writer } = createReader();
    for (let i = 0; i < 100; i++) writer.write(`line ${i}\n`);
    await writer.flush(1000);
    expect(reader.text).toBe(Array.from({ length: 100 }, (_, i) => `line ${i}\n`).join(""));
  });

  test("continues after a partial write, even within a character", async () => {
    const { reader, writer } = createReader();
    reader.maxBytes = 3;
    const pieces: Buffer[] = [];
    const bytes = new LineWriter(
      (chunk, done) => {
        pieces.push(Buffer.from(chunk.subarray(0, 3)));
        setImmediate(done, null, Math.min(3, chunk.length));
      },
      () => "",
    );
    for (const text of ["äöü\n", "日本語\n"]) {
      writer.write(text);
      bytes.write(text);
    }
    await Promise.all([writer.flush(1000), bytes.flush(1000)]);
    expect(Buffer.concat(pieces).toString()).toBe("äöü\n日本語\n");
    expect(writer.dropped).toBe(0);
  });

  test("buffers 256 KiB for a stalled reader, drops the rest and reports how many lines", async () => {
    useFakeTimeouts();
    const { reader, writer } = createReader();
    reader.maxBytes = 0;
    for (let i = 0; i < BUFFER_LINES + 50; i++) writer.write(LINE);
    expect(writer.dropped).toBe(50);
    await yieldToEventLoop();
    reader.maxBytes = 64 * 1024;
    vi.advanceTimersByTime(RETRY_DELAY_MS);
    await writer.flush(5000);
    expect(reader.text).toBe(`${LINE.repeat(BUFFER_LINES)}50 dropped\n`);
    writer.write(LINE);
    await writer.flush(1000);
    expect(reader.text).toBe(`${LINE.repeat(BUFFER_LINES)}50 dropped\n${LINE}`);
  });

  test("counts the lines lost by an error and continues", async () => {
    const { reader, writer } = createReader();
    reader.errorCode = "EPIPE";
    writer.write(LINE);
    writer.write(LINE);
    await writer.flush(1000);
    expect(writer.dropped).toBe(2);
    reader.errorCode = undefined;
    writer.write("again\n");
    await writer.flush(1000);
    expect(reader.text).toBe("again\n2 dropped\n");
  });

  test("stops waiting after the flush timeout", async () => {
    useFakeTimeouts();
    const { reader, writer } = createReader();
    reader.maxBytes = 0;
    writer.write(LINE);
    const flushed = writer.flush(5000);
    vi.advanceTimersByTime(5000);
    await flushed;
    expect(reader.text).toBe("");
  });
});
