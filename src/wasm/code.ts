/**
 * Code of WebAssembly as nested lists of bytes. Each function here is an instruction by its name in the
 * specification: it takes the code of its operands and gives the code that leaves the result on the stack.
 */
export type Code = number | readonly Code[];

/** The lower eight bytes of a vector, or the upper ones. */
export type Half = 0 | 1;

type Binary = (one: Code, other: Code) => Code;
type Unary = (operand: Code) => Code;

const EMPTY = 0x40;
const END = 0x0b;
const SIMD = 0xfd;

/** Types of values. */
export const I32 = 0x7f;
export const I64 = 0x7e;
export const F32 = 0x7d;
export const F64 = 0x7c;
export const V128 = 0x7b;

export type ValueType = typeof I32 | typeof I64 | typeof F32 | typeof F64 | typeof V128;

export const block = (...body: Code[]): Code => [0x02, EMPTY, ...body, END];
export const loop = (...body: Code[]): Code => [0x03, EMPTY, ...body, END];
/** Leaves the blocks around it, 0 being the innermost; of a loop, begins it again. */
export const branchIf = (depth: number, condition: Code): Code => [condition, 0x0d, depth];
/** One of two pieces of code, the second where the condition is zero. It counts as a block around them. */
export const choose = (condition: Code, one: Code, other: Code = []): Code => [
  [condition, 0x04, EMPTY],
  [one, 0x05, other, END],
];

/** A parameter or variable of a function: the code that reads it, and how to change it. */
export interface Local extends ReadonlyArray<Code> {
  set(value: Code): Code;
  /** Sets it and leaves the value on the stack too. */
  tee(value: Code): Code;
}

export function local(index: number): Local {
  const at = unsigned(index);
  return Object.assign([0x20, at], {
    set: (value: Code): Code => [value, 0x21, at],
    tee: (value: Code): Code => [value, 0x22, at],
  });
}

export const i32 = {
  const: (value: number): Code => [0x41, signed(value)],
  add: binary(0x6a),
  sub: binary(0x6b),
  mul: binary(0x6c),
  and: binary(0x71),
  or: binary(0x72),
  shiftLeft: binary(0x74),
  shiftRight: binary(0x75),
  shiftRightUnsigned: binary(0x76),
  eq: binary(0x46),
  ne: binary(0x47),
  less: binary(0x48),
  lessUnsigned: binary(0x49),
  fromI64: unary(0xa7),
  load: (address: Code, offset = 0): Code => [address, 0x28, 2, unsigned(offset)],
  loadByte: (address: Code, offset = 0): Code => [address, 0x2d, 0, unsigned(offset)],
  /** Of 16 bits, without a sign. */
  load16: (address: Code, offset = 0): Code => [address, 0x2f, 1, unsigned(offset)],
  store: (address: Code, value: Code, offset = 0): Code => [address, value, 0x36, 2, unsigned(offset)],
  storeByte: (address: Code, value: Code): Code => [address, value, 0x3a, 0, 0],
  /** The lower 16 bits. */
  store16: (address: Code, value: Code): Code => [address, value, 0x3b, 1, 0],
};

export const i64 = {
  shiftLeft: binary(0x86),
  shiftRightUnsigned: binary(0x88),
  fromI32: unary(0xad),
  /** From any address. */
  load: (address: Code, offset = 0): Code => [address, 0x29, 0, unsigned(offset)],
};

export const f32 = {
  const: (value: number): Code => [0x43, ...new Uint8Array(Float32Array.of(value).buffer)],
  add: binary(0x92),
  mul: binary(0x94),
  greater: binary(0x5e),
  fromF64: unary(0xb6),
};

export const f64 = {
  add: binary(0xa0),
  sub: binary(0xa1),
};

export const v128 = {
  const: (bytes: readonly number[]): Code => [SIMD, 0x0c, ...bytes],
  zero: [SIMD, 0x0c, ...new Array<number>(16).fill(0)] as Code,
  load: (address: Code, offset = 0): Code => [address, SIMD, 0x00, 0, unsigned(offset)],
  /** A number of 32 bits, four times. */
  loadSplat: (address: Code, offset = 0): Code => [address, SIMD, 0x09, 2, unsigned(offset)],
  store: (address: Code, value: Code, offset = 0): Code => [address, value, SIMD, 0x0b, 0, unsigned(offset)],
  /** Eight bytes without a sign, each as 16 bits. */
  load8x8: (address: Code, offset = 0): Code => [address, SIMD, 0x02, 0, unsigned(offset)],
  store64: (address: Code, value: Code, half: Half): Code => [address, value, SIMD, 0x5b, 0, 0, half],
  isAnyBitSet: simdUnary(0x53),
  and: simdBinary(0x4e),
  or: simdBinary(0x50),
  /** Picks 16 bytes of one operand by the places in another; a place of 128 gives zero. */
  swizzle: simdBinary(0x0e),
  /** Picks 16 bytes out of the 32 of both operands. */
  shuffle: (one: Code, other: Code, places: readonly number[]): Code => [one, other, SIMD, 0x0d, ...places],
  /** Numbers of so many bytes by turns, out of one half of each operand. */
  interleave: (one: Code, other: Code, bytes: 1 | 2 | 4 | 8, half: Half): Code => {
    const numbers = Array.from({ length: 8 / bytes }, (_, i) =>
      Array.from({ length: bytes }, (_, byte) => 8 * half + bytes * i + byte),
    );
    return v128.shuffle(
      one,
      other,
      numbers.flatMap((places) => [...places, ...places.map((place) => place + 16)]),
    );
  },
};

export const i8x16 = {
  /** Of two vectors of 16 bits; numbers beyond the range become its ends. */
  fromI16x8: simdBinary(0x66),
};

export const i16x8 = {
  /** Two numbers by turns. */
  pairs: (one: number, other: number): Code =>
    v128.const([...new Uint8Array(Int16Array.of(one, other, one, other, one, other, one, other).buffer)]),
  splat: simdUnary(0x10),
  add: simdBinary(0x8e),
  sub: simdBinary(0x91),
  mul: simdBinary(0x95),
  shiftLeft: simdBinary(0x8b),
  shiftRight: simdBinary(0x8c),
  /** Products of 2^-15 of the numbers, rounded. */
  mulQ15: simdBinary(0x82),
  /** Of two vectors of 32 bits; numbers beyond the range become its ends. */
  fromI32x4: simdBinary(0x85),
};

export const i32x4 = {
  splat: simdUnary(0x11),
  add: simdBinary(0xae),
  sub: simdBinary(0xb1),
  mul: simdBinary(0xb5),
  shiftLeft: simdBinary(0xab),
  shiftRight: simdBinary(0xac),
  /** Sums of the products of two neighbours of 16 bits. */
  dotI16x8: simdBinary(0xba),
  lane: (vector: Code, lane: number): Code => [vector, SIMD, 0x1b, lane],
};

export const f32x4 = {
  splat: simdUnary(0x13),
  lane: (vector: Code, lane: number): Code => [vector, SIMD, 0x1f, lane],
  add: simdBinary(0xe4),
  sub: simdBinary(0xe5),
  mul: simdBinary(0xe6),
  floor: simdUnary(0x68),
  /** The smaller and the larger of two, fast, where both are numbers. */
  min: simdBinary(0xea),
  max: simdBinary(0xeb),
  fromI32x4: simdUnary(0xfa),
};

function unary(opcode: number): Unary {
  return (operand) => [operand, opcode];
}

function binary(opcode: number): Binary {
  return (one, other) => [one, other, opcode];
}

function simdUnary(opcode: number): Unary {
  return (operand) => [operand, SIMD, unsigned(opcode)];
}

function simdBinary(opcode: number): Binary {
  return (one, other) => [one, other, SIMD, unsigned(opcode)];
}

/** A number as LEB128. */
export function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

/** A number as signed LEB128, where the last byte's second bit is the sign. */
function signed(value: number): number[] {
  return value >= -0x40 && value < 0x40 ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}
