package dev.visage;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import dev.visage.face.v1.Image;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Supplier;

/** A JPEG or PNG: its bytes, a local file, or an HTTP(S) URL from which the service fetches it. */
public final class ImageInput {
  /** Reads the image; null if it has a URL. */
  private final Supplier<ByteString> content;

  /** Null if the image has content. */
  private final String url;

  private ImageInput(Supplier<ByteString> content, String url) {
    this.content = content;
    this.url = url;
  }

  /** An encoded image. The array is not copied, so it must not change until the call returns. */
  public static ImageInput ofBytes(byte[] content) {
    Objects.requireNonNull(content);
    return new ImageInput(() -> UnsafeByteOperations.unsafeWrap(content), null);
  }

  /**
   * A local file. Each call reads it when it starts; the call throws VisageException with the reason {@code
   * UNREADABLE_IMAGE} if that fails.
   */
  public static ImageInput ofFile(Path path) {
    Objects.requireNonNull(path);
    return new ImageInput(() -> contentOf(path), null);
  }

  /** A URL from which the service fetches the image. */
  public static ImageInput ofUrl(URI url) {
    return new ImageInput(null, url.toString());
  }

  /** Reads the image into a message of face.v1. */
  Image toMessage() {
    var image = Image.newBuilder();
    return (content == null ? image.setUrl(url) : image.setContent(content.get())).build();
  }

  /** Reads the image into a message of visage.v1. */
  dev.visage.v1.Image toTypedMessage() {
    var image = dev.visage.v1.Image.newBuilder();
    return (content == null ? image.setUrl(url) : image.setContent(content.get())).build();
  }

  private static ByteString contentOf(Path path) {
    try {
      return UnsafeByteOperations.unsafeWrap(Files.readAllBytes(path));
    } catch (IOException cause) {
      throw VisageException.unreadable("Cannot read the image " + path + ": " + cause, cause);
    }
  }
}
