/**
 * Code of WebAssembly as nested lists of bytes. Each function here is an instruction by its name in the
 * specification: it takes the code of its operands and gives the code that leaves the result on the stack.
 */
export type Code = number | readonly Code[];

type Binary = (one: Code, other: Code) => Code;
type Unary = (operand: Code) => Code;

const EMPTY = 0x40;
const END = 0x0b;
const SIMD = 0xfd;

/** Types of values. */
export const I32 = 0x7f;
export const F32 = 0x7d;
export const F64 = 0x7c;
export const V128 = 0x7b;

export type ValueType = typeof I32 | typeof F32 | typeof F64 | typeof V128;

export const block = (...body: Code[]): Code => [0x02, EMPTY, ...body, END];
export const loop = (...body: Code[]): Code => [0x03, EMPTY, ...body, END];
/** Leaves the blocks around it, 0 being the innermost; of a loop, begins it again. */
export const branchIf = (depth: number, condition: Code): Code => [condition, 0x0d, depth];

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
  ne: binary(0x47),
  lessUnsigned: binary(0x49),
  load: (address: Code, offset = 0): Code => [address, 0x28, 2, unsigned(offset)],
  store: (address: Code, value: Code): Code => [address, value, 0x36, 2, 0],
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
  and: simdBinary(0x4e),
  or: simdBinary(0x50),
  /** Picks 16 bytes of one operand by the places in another; a place of 128 gives zero. */
  swizzle: simdBinary(0x0e),
  /** Picks 16 bytes out of the 32 of both operands. */
  shuffle: (one: Code, other: Code, places: readonly number[]): Code => [one, other, SIMD, 0x0d, ...places],
};

export const i8x16 = {
  /** Of two vectors of 16 bits; numbers beyond the range become its ends. */
  fromI16x8: simdBinary(0x66),
};

export const i16x8 = {
  splat: simdUnary(0x10),
  add: simdBinary(0x8e),
  shiftRight: simdBinary(0x8d),
};

export const i32x4 = {
  splat: simdUnary(0x11),
  add: simdBinary(0xae),
  sub: simdBinary(0xb1),
  mul: simdBinary(0xb5),
  shiftLeft: simdBinary(0xab),
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
