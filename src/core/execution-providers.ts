/**
 * The execution providers that onnxruntime-node can be built with, by its names. Which of them a build has depends on
 * the platform.
 */
export const EXECUTION_PROVIDERS = ["cpu", "cuda", "tensorrt", "webgpu", "dml", "coreml", "qnn"] as const;

export type ExecutionProvider = (typeof EXECUTION_PROVIDERS)[number];

export const DEFAULT_PROVIDERS: readonly ExecutionProvider[] = ["cpu"];

/** Crops in one run of a network. On a CPU, two share one read of the weights; more do not fit into a core's cache. */
export const DEFAULT_BATCH_SIZE = 2;

/** The largest batch. An analysis runs the networks for so many faces at a time, and the input tensor has room for them. */
export const MAX_BATCH_SIZE = 16;
