package dev.visage;

import dev.visage.v1.BoundingBox;
import dev.visage.v1.Embedding;
import dev.visage.v1.FaceSource;
import java.util.Objects;
import java.util.function.Supplier;

/** A face to compare, enrol or identify: in an image, or as an embedding. */
public final class FaceInput {
  private final Supplier<FaceSource> source;

  private FaceInput(Supplier<FaceSource> source) {
    this.source = source;
  }

  /** The most prominent face of an image to enrol or compare; every face of it as a target, and to identify. */
  public static FaceInput of(ImageInput image) {
    Objects.requireNonNull(image);
    return new FaceInput(() -> FaceSource.newBuilder().setImage(image.toTypedMessage()).build());
  }

  /** The face in a box of an image. */
  public static FaceInput of(ImageInput image, BoundingBox box) {
    Objects.requireNonNull(image);
    return new FaceInput(() -> FaceSource.newBuilder().setImage(image.toTypedMessage()).setBox(box).build());
  }

  /** The embedding of an analysis. */
  public static FaceInput of(Embedding embedding) {
    FaceSource source = FaceSource.newBuilder().setEmbedding(embedding).build();
    return new FaceInput(() -> source);
  }

  /** A template of {@link VisageClient#getFaceVec}. */
  public static FaceInput of(Template template) {
    return of(template.toMessage());
  }

  FaceSource toMessage() {
    return source.get();
  }
}
