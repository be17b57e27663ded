// Unit tests run from the sources, which import the compiled kernels.
import { compileKernels } from "../../tools/kernels.mjs";

export const setup = compileKernels;
