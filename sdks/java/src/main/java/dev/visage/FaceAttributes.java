package dev.visage;

import dev.visage.face.v1.BoundingBox;
import dev.visage.face.v1.Point;
import java.util.Map;

/**
 * The attributes of a face. Age range and gender are estimates of how the face appears.
 *
 * @param box the face in pixels of the upright image; selects it in another request
 * @param age one of {@code 0-10}, {@code 10-20}, {@code 20-40}, {@code 40-60}, {@code 60-100}
 * @param gender {@code male} or {@code female}
 * @param genderConfidence 0.501 to 1
 * @param landmarks 68 landmarks in pixels, by the keys of docs/api.md
 */
public record FaceAttributes(
    BoundingBox box, String age, String gender, double genderConfidence, Map<String, Point> landmarks) {}
