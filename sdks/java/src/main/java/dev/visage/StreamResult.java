package dev.visage;

import dev.visage.v1.AnalyzeImageResponse;
import java.util.Optional;

/**
 * The result of an image of a stream: either a response or an error.
 *
 * @param key the key of the image
 * @param response the faces of the image
 * @param error why this image was not analysed; other images are not affected
 */
public record StreamResult<K>(K key, Optional<AnalyzeImageResponse> response, Optional<VisageException> error) {}
