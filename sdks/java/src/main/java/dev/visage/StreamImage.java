package dev.visage;

import dev.visage.v1.BoundingBox;
import java.util.List;

/**
 * An image of a stream.
 *
 * @param key comes back with the result; it need not be unique, and is not sent to the service
 * @param image the image, which is read when the service takes it
 * @param boxes select the faces instead of detecting them; empty to detect them
 */
public record StreamImage<K>(K key, ImageInput image, List<BoundingBox> boxes) {
  /** An image whose faces are detected. */
  public StreamImage(K key, ImageInput image) {
    this(key, image, List.of());
  }
}
