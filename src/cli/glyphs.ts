/** The bitmap of a character: rows of pixels, true if set. */
export type Glyph = readonly (readonly boolean[])[];

/** Width of every glyph in pixels. */
export const GLYPH_WIDTH = 5;

/** Height of every glyph in pixels. */
export const GLYPH_HEIGHT = 7;

// A small bitmap font with the characters of the labels, so that the output does not depend on installed fonts.
// biome-ignore format: drawings
const BITMAPS: readonly (readonly [letters: string, ...rows: string[]])[] = [
  ["0123456789",
    ".###.  ..#..  .###.  #####  ...#.  #####  ..##.  #####  .###.  .###.",
    "#...#  .##..  #...#  ...#.  ..##.  #....  .#...  ....#  #...#  #...#",
    "#...#  ..#..  ....#  ..#..  .#.#.  ####.  #....  ...#.  #...#  #...#",
    "#...#  ..#..  ...#.  ...#.  #..#.  ....#  ####.  ..#..  .###.  .####",
    "#...#  ..#..  ..#..  ....#  #####  ....#  #...#  .#...  #...#  ....#",
    "#...#  ..#..  .#...  #...#  ...#.  #...#  #...#  .#...  #...#  ...#.",
    ".###.  .###.  #####  .###.  ...#.  .###.  .###.  .#...  .###.  .##..",
  ],
  ["AEFLM-%# ",
    ".###.  #####  #####  #....  #...#  .....  ##...  .#.#.  .....",
    "#...#  #....  #....  #....  ##.##  .....  ##..#  .#.#.  .....",
    "#...#  #....  #....  #....  #.#.#  .....  ...#.  #####  .....",
    "#####  ####.  ####.  #....  #.#.#  .###.  ..#..  .#.#.  .....",
    "#...#  #....  #....  #....  #...#  .....  .#...  #####  .....",
    "#...#  #....  #....  #....  #...#  .....  #..##  .#.#.  .....",
    "#...#  #####  #....  #####  #...#  .....  ...##  .#.#.  .....",
  ],
];

const GLYPHS: ReadonlyMap<string, Glyph> = new Map(
  BITMAPS.flatMap(([letters, ...rows]) =>
    [...letters].map((letter, i) => [
      letter,
      rows.map((row) => [...row.split("  ")[i]!].map((dot) => dot === "#")),
    ]),
  ),
);

/** Returns the bitmap of a character. Throws RangeError if the font does not have it. */
export function findGlyph(letter: string): Glyph {
  const glyph = GLYPHS.get(letter);
  if (!glyph) throw new RangeError(`The font has no glyph for "${letter}".`);
  return glyph;
}
