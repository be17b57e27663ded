import { type Code, type Local, local, unsigned, type ValueType } from "./code.ts";

/** Names and types of parameters or variables, in their order. */
type Types<Name extends string> = Readonly<Record<Name, ValueType>>;

/** A function: what it takes, what else it keeps in variables, and its code, which leaves the result if there is one. */
export interface WasmFunction<Parameter extends string, Variable extends string> {
  readonly parameters: Types<Parameter>;
  readonly variables: Types<Variable>;
  readonly result?: ValueType;
  code(locals: Readonly<Record<Parameter | Variable, Local>>): Code;
}

/** Memory that code of WebAssembly works on. */
export interface WasmMemory {
  /** Another one after each growth. */
  readonly buffer: ArrayBuffer;
  grow(pages: number): void;
}

/** Bytes in a page, the unit of memory. */
export const PAGE_BYTES = 65_536;

/** Of Node's WebAssembly, which its types leave out, as much as is used here. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: object,
  ) => {
    readonly exports: { run(...parameters: number[]): number };
  };
  readonly Memory: new (size: { initial: number }) => WasmMemory;
};

const FUNCTION = 0x60;
const END = 0x0b;

/** Memory of so many pages. */
export function createMemory(pages: number): WasmMemory {
  return new WebAssembly.Memory({ initial: pages });
}

/** Compiles a function, and gives it over any memory. */
export function compile<Parameter extends string, Variable extends string>(
  wasm: WasmFunction<Parameter, Variable>,
): (memory: WasmMemory) => (...parameters: number[]) => number {
  const module = new WebAssembly.Module(assemble(wasm));
  return (memory) => new WebAssembly.Instance(module, { of: { memory } }).exports.run;
}

/** A module that imports its memory and exports one function. */
function assemble<Parameter extends string, Variable extends string>({
  parameters,
  variables,
  result,
  code,
}: WasmFunction<Parameter, Variable>): Uint8Array {
  const names = Object.keys({ ...parameters, ...variables });
  const locals = Object.fromEntries(names.map((name, i) => [name, local(i)]));
  const results = result === undefined ? list() : list(result);
  const declarations = Object.values<ValueType>(variables).map((type) => [1, type]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list([FUNCTION, list(...Object.values<ValueType>(parameters)), results])),
    ...section(2, list([text("of"), text("memory"), 0x02, 0, 1])),
    ...section(3, list(0)),
    ...section(7, list([text("run"), 0, 0])),
    ...section(
      10,
      list(sized([list(...declarations), code(locals as Record<Parameter | Variable, Local>), END])),
    ),
  ]);
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
