import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { LineWriter } from "../../src/telemetry/line-writer.ts";

const LINE = `${"x".repeat(1023)}\n`;
/** What a writer keeps for its reader, in lines of 1 KiB. */
const ROOM = 256;

/** A reader that takes so many bytes at a time: all, some, or none (EAGAIN) until it is told otherwise. */
function createReader() {
  const reader = {
    text: "",
    takes: Number.POSITIVE_INFINITY,
    fault: undefined as string | undefined,
    calls: 0,
  };
  const writer = new LineWriter(
    (chunk, done) => {
      reader.calls++;
      const bytes = Math.min(chunk.length, reader.takes);
      const code = reader.fault ?? (bytes === 0 ? "EAGAIN" : undefined);
      if (code === undefined) reader.text += Buffer.from(chunk.subarray(0, bytes)).toString();
      setImmediate(() => done(code === undefined ? null : Object.assign(new Error(code), { code }), bytes));
    },
    (lines) => `${lines} dropped\n`,
  );
  return { reader, writer };
}

describe("a line writer", () => {
  test("writes lines in order, in as few chunks as the reader allows", async () => {
    const { reader, writer } = createReader();
    for (let i = 0; i < 100; i++) writer.write(`line ${i}\n`);
    await writer.flush(1000);
    expect(reader.text).toBe(Array.from({ length: 100 }, (_, i) => `line ${i}\n`).join(""));
    expect(reader.calls).toBe(2);
  });

  test("goes on where the reader took a part, also within a character", async () => {
    const { reader, writer } = createReader();
    reader.takes = 3;
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

  test("keeps 256 KiB for a reader that stalls, drops the rest and says how much", async () => {
    const { reader, writer } = createReader();
    reader.takes = 0;
    for (let i = 0; i < ROOM + 50; i++) writer.write(LINE);
    expect(writer.dropped).toBe(50);
    await sleep(350);
    // A few attempts, not a busy loop.
    expect(reader.calls).toBeLessThan(6);
    reader.takes = 64 * 1024;
    await writer.flush(5000);
    expect(reader.text).toBe(`${LINE.repeat(ROOM)}50 dropped\n`);
    writer.write(LINE);
    await writer.flush(1000);
    expect(reader.text).toBe(`${LINE.repeat(ROOM)}50 dropped\n${LINE}`);
  });

  test("counts what an error has lost, and goes on", async () => {
    const { reader, writer } = createReader();
    reader.fault = "EPIPE";
    writer.write(LINE);
    writer.write(LINE);
    await writer.flush(1000);
    expect(writer.dropped).toBe(2);
    reader.fault = undefined;
    writer.write("again\n");
    await writer.flush(1000);
    expect(reader.text).toBe("again\n2 dropped\n");
  });

  test("is not waited for longer than asked", async () => {
    const { reader, writer } = createReader();
    reader.takes = 0;
    writer.write(LINE);
    const started = performance.now();
    await writer.flush(100);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
