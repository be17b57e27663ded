package dev.visage;

import java.util.List;

/**
 * The faces of an image.
 *
 * @param width width of the upright image in pixels
 * @param height height of the upright image in pixels
 * @param faces the faces, the most prominent first; empty if there are none
 */
public record ImageAttributes(int width, int height, List<FaceAttributes> faces) {}
