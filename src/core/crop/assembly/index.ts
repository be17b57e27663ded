// The crop kernels in AssemblyScript. tools/kernels.mjs compiles them into ../kernels.wasm.js, whose interface is
// ../kernels.wasm.d.ts. Addresses are byte offsets into the one memory; the caller guarantees that they are valid.
//
// The inner loops are do-while loops: with the condition at the start, V8 runs these kernels 20 to 30 % slower.
export { halve } from "./halve";
export { sample } from "./sample";
