const VECTOR_BYTES: usize = 16;

/** Copies rows of floats and reverses each. Rows are a multiple of 16 bytes long. */
export function mirror(from: usize, to: usize, rowBytes: usize, rows: i32): void {
  for (let row = 0; row < rows; row++) {
    for (let source = from + rowBytes; source > from; to += VECTOR_BYTES) {
      source -= VECTOR_BYTES;
      const floats = v128.load(source);
      v128.store(to, v128.shuffle<f32>(floats, floats, 3, 2, 1, 0));
    }
    from += rowBytes;
  }
}
