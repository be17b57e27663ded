// The interface of kernels.wasm.js, which tools/kernels.mjs compiles from assembly/.

export interface SearchKernels {
  readonly memory: {
    /** Replaced whenever the memory grows. */
    readonly buffer: ArrayBuffer;
    /** Grows by pages of 64 KiB. Throws RangeError if there is not enough memory. */
    grow(pages: number): number;
  };

  /**
   * Finds the templates whose squared distance to the query is at most `bound`, in 32-bit arithmetic.
   *
   * @param query Address of the query.
   * @param templates Address of the first template.
   * @param templatesEnd Address after the last template. There is at least one.
   * @param matches Where to write the addresses of the matches, each as 32 bits.
   * @returns The end of the matches.
   */
  findCandidates(
    query: number,
    templates: number,
    templatesEnd: number,
    bound: number,
    matches: number,
  ): number;

  /**
   * Writes a template as 128 integers of 16 bits and a norm. The dot product of the integers of two templates fits into
   * 32 bits, because the sum of their squares is about QUANTIZED_SCALE ** 2.
   *
   * @param template Address of the template, which has 32-bit floats.
   * @param quantized Where to write the integers and the norm.
   */
  quantize(template: number, quantized: number): void;

  /**
   * Finds the quantized templates for which `norm * (norm - factor * dot - margin) <= bound`, in 32-bit arithmetic,
   * where `dot` is the dot product of the integers of template and query, which must fit into 32 bits.
   *
   * @param query Address of the integers of the query.
   * @param templates Address of the first template.
   * @param templatesEnd Address after the last template.
   * @param matches Where to write the addresses of the matches, each as 32 bits.
   * @returns The end of the matches.
   */
  findQuantized(
    query: number,
    templates: number,
    templatesEnd: number,
    factor: number,
    margin: number,
    bound: number,
    matches: number,
  ): number;
}

/** Instantiates the kernel over memory of at least `bytes` bytes, filled with zeros. */
export function instantiate(bytes: number): SearchKernels;
