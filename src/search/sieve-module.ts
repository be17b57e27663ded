/** Numbers in a template. */
export const DIMENSIONS = 128;
/** Bytes of a template. */
export const ROW_BYTES = 4 * DIMENSIONS;

/** So many dimensions are summed between two looks at the bound; measured, and a divisor of all. */
const STRIDE = 32;
const LANES = 4;

// The few instructions of WebAssembly that are needed, by their names in its specification.
const I32 = 0x7f;
const F32 = 0x7d;
const V128 = 0x7b;
const EMPTY = 0x40;
const END = 0x0b;
const I32_ADD = 0x6a;
const I32_LT_U = 0x49;
const I32_NE = 0x47;
const F32_ADD = 0x92;
const F32_GT = 0x5e;
const F32X4_ADD = [0xfd, 0xe4, 0x01];
const F32X4_SUB = [0xfd, 0xe5, 0x01];
const F32X4_MUL = [0xfd, 0xe6, 0x01];
const V128_ZERO = [0xfd, 0x0c, ...new Array<number>(16).fill(0)];
const block = (...body: Code[]): Code => [0x02, EMPTY, ...body, END];
const loop = (...body: Code[]): Code => [0x03, EMPTY, ...body, END];
const branchIf = (depth: number): Code => [0x0d, depth];
const get = (local: number): Code => [0x20, local];
const set = (local: number): Code => [0x21, local];
const tee = (local: number): Code => [0x22, local];
const i32 = (value: number): Code => [0x41, signed(value)];
const storeI32: Code = [0x36, 2, 0];
const loadV128 = (offset: number): Code => [0xfd, 0x00, 4, unsigned(offset)];
const laneF32 = (lane: number): Code => [0xfd, 0x1f, lane];

type Code = number | readonly Code[];

// Parameters, then variables.
const [QUERY, ROW, ROWS_END, BOUND, FOUND, OFFSET, SUM, DIFFERENCE] = [0, 1, 2, 3, 4, 5, 6, 7] as const;

/**
 * A WebAssembly module that imports its memory as `memory.rows` and exports `sieve(query, row, rowsEnd, bound,
 * found)`: of the rows from one address up to another, it writes the addresses of those whose squared distance
 * from the query does not exceed the bound, each in four bytes, and returns where it stopped writing. It computes
 * with 32 bits, four dimensions at a time, and leaves a row as soon as its sum exceeds the bound.
 */
export function assembleSieve(): Uint8Array<ArrayBuffer> {
  const code: Code = [
    loop(
      [i32(0), set(OFFSET), V128_ZERO, set(SUM)],
      block(
        loop(
          Array.from({ length: STRIDE / LANES }, (_, i) => addSquares(4 * LANES * i)),
          [0, 1, 2, 3].map((lane) => [get(SUM), laneF32(lane), lane > 0 ? F32_ADD : []]),
          // Out of the block, past the writing.
          [get(BOUND), F32_GT, branchIf(1)],
          [get(OFFSET), i32(4 * STRIDE), I32_ADD, tee(OFFSET), i32(ROW_BYTES), I32_LT_U, branchIf(0)],
        ),
        [get(FOUND), get(ROW), storeI32],
        [get(FOUND), i32(4), I32_ADD, set(FOUND)],
      ),
      [get(ROW), i32(ROW_BYTES), I32_ADD, tee(ROW), get(ROWS_END), I32_NE, branchIf(0)],
    ),
    get(FOUND),
    END,
  ];
  const variables = list([1, I32], [2, V128]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list([0x60, list(I32, I32, I32, F32, I32), list(I32)])),
    ...section(2, list([text("memory"), text("rows"), 0x02, 0, 1])),
    ...section(3, list(0)),
    ...section(7, list([text("sieve"), 0, 0])),
    ...section(10, list(sized([variables, code]))),
  ]);
}

/** Adds the squares of four differences between row and query. */
function addSquares(offset: number): Code {
  const loadFrom = (base: number) => [get(base), get(OFFSET), I32_ADD, loadV128(offset)];
  return [
    [loadFrom(ROW), loadFrom(QUERY), F32X4_SUB, tee(DIFFERENCE)],
    [get(DIFFERENCE), F32X4_MUL, get(SUM), F32X4_ADD, set(SUM)],
  ];
}

function section(id: number, content: Code): number[] {
  return bytesOf([id, sized(content)]);
}

function sized(content: Code): Code {
  const bytes = bytesOf(content);
  return [unsigned(bytes.length), bytes];
}

function list(...items: Code[]): Code {
  return [unsigned(items.length), items];
}

function text(value: string): Code {
  return sized([...Buffer.from(value)]);
}

function bytesOf(code: Code): number[] {
  return typeof code === "number" ? [code] : code.flatMap(bytesOf);
}

/** A number as LEB128. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

/** A number that is not negative as signed LEB128, where the last byte's second bit is the sign. */
function signed(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signed(value >>> 7)];
}
