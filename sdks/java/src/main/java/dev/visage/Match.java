package dev.visage;

/**
 * The comparison of two faces.
 *
 * @param distance 0 to 0.9, to four decimals
 * @param matched whether both faces are the same person: the distance is below 0.5
 */
public record Match(double distance, boolean matched) {}
