package visage;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Supplier;
import visage.face.v1.Image;

/** A JPEG or PNG: its bytes, a local file, or an HTTP(S) URL from which the service fetches it. */
public final class ImageInput {
  private final Supplier<Image> source;

  private ImageInput(Supplier<Image> source) {
    this.source = source;
  }

  /** An encoded image. The array is not copied, so it must not change until the call returns. */
  public static ImageInput ofBytes(byte[] content) {
    Objects.requireNonNull(content);
    return new ImageInput(() -> imageOf(UnsafeByteOperations.unsafeWrap(content)));
  }

  /** A local file. Each call reads it when it starts; the call throws UncheckedIOException if that fails. */
  public static ImageInput ofFile(Path path) {
    Objects.requireNonNull(path);
    return new ImageInput(() -> imageOf(contentOf(path)));
  }

  /** A URL from which the service fetches the image. */
  public static ImageInput ofUrl(URI url) {
    Image image = Image.newBuilder().setUrl(url.toString()).build();
    return new ImageInput(() -> image);
  }

  Image toMessage() {
    return source.get();
  }

  private static Image imageOf(ByteString content) {
    return Image.newBuilder().setContent(content).build();
  }

  private static ByteString contentOf(Path path) {
    try {
      return UnsafeByteOperations.unsafeWrap(Files.readAllBytes(path));
    } catch (IOException cause) {
      throw new UncheckedIOException("Cannot read the image " + path, cause);
    }
  }
}
