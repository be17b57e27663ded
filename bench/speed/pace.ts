/** Length of one measurement. */
export const SECONDS = 4;

/** Length of a measurement that is to be seen second by second. */
export const PHASE_SECONDS = 15;
