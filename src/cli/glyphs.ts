/** A letter as rows of pixels; true is ink. */
export type Glyph = readonly (readonly boolean[])[];

/** Width of every glyph in pixels. */
export const GLYPH_WIDTH = 5;

/** Height of every glyph in pixels. */
export const GLYPH_HEIGHT = 7;

// A font of our own, with the letters that labels need: a machine without fonts draws the same pictures.
// biome-ignore format: drawings
const DRAWN: readonly (readonly [letters: string, ...rows: string[]])[] = [
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
  DRAWN.flatMap(([letters, ...rows]) =>
    [...letters].map((letter, i) => [
      letter,
      rows.map((row) => [...row.split("  ")[i]!].map((dot) => dot === "#")),
    ]),
  ),
);

/** The drawing of a letter. Throws for one that is in no label. */
export function glyphOf(letter: string): Glyph {
  const glyph = GLYPHS.get(letter);
  if (!glyph) throw new RangeError(`No glyph is drawn for "${letter}".`);
  return glyph;
}
