package dev.visage;

import dev.visage.face.v1.Attributes;
import dev.visage.face.v1.BoundingBox;
import dev.visage.face.v1.Face;
import dev.visage.face.v1.FaceServiceGrpc;
import dev.visage.face.v1.GetFaceVecRequest;
import dev.visage.face.v1.GetImageAttrRequest;
import dev.visage.face.v1.MatchFacesRequest;
import dev.visage.v1.AnalyzeImageRequest;
import dev.visage.v1.AnalyzeImageResponse;
import dev.visage.v1.CompareFacesRequest;
import dev.visage.v1.CompareFacesResponse;
import dev.visage.v1.FaceAnalysisServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.stub.MetadataUtils;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Calls the service over gRPC. Calls block, and throw VisageException. An interrupt ends a call with the reason
 * {@code CANCELLED}.
 *
 * <p>A client is thread-safe and holds one connection: create one and share it. It connects on first use, and reconnects
 * when the connection is lost.
 *
 * <p>The last parameter of each operation sets the optional fields of the request, such as {@code request ->
 * request.setMaxFaces(1)}.
 *
 * <p>{@code matchFaces}, {@code getImageAttr} and {@code getFaceVec} call the original API. The others call the typed API
 * and return the messages of {@code dev.visage.v1}.
 */
public final class VisageClient implements AutoCloseable {
  private static final Metadata.Key<String> MODEL =
      Metadata.Key.of("x-visage-model", Metadata.ASCII_STRING_MARSHALLER);

  private final Calls calls;
  private final Galleries galleries;
  private final Account account;
  private final Admin admin;

  VisageClient(Calls calls) {
    this.calls = calls;
    galleries = new Galleries(calls);
    account = new Account(calls);
    admin = new Admin(calls);
  }

  /**
   * Configures a client.
   *
   * @param address the URL of the service, such as {@code http://localhost:8080}; {@code https} uses TLS
   * @throws IllegalArgumentException if the address is not such a URL
   */
  public static VisageClientBuilder builder(String address) {
    return new VisageClientBuilder(address);
  }

  /** Measures every face of an image. */
  public AnalyzeImageResponse analyzeImage(ImageInput image) {
    return analyzeImage(image, request -> {});
  }

  /** Measures every face of an image, or the faces in the boxes of the options. */
  public AnalyzeImageResponse analyzeImage(ImageInput image, Consumer<AnalyzeImageRequest.Builder> options) {
    return calls.run(
        FaceAnalysisServiceGrpc.getAnalyzeImageMethod(),
        () -> Calls.with(AnalyzeImageRequest.newBuilder().setImage(image.toTypedMessage()), options).build());
  }

  /** Measures the faces of many images on one stream. */
  public <K> ImageStream<K> analyzeImages(Iterable<StreamImage<K>> images) {
    return analyzeImages(images, request -> {});
  }

  /**
   * Measures the faces of many images on one stream. Results come as they are ready, not in the order of the images. An
   * image that fails has an error in its result, and the others go on.
   *
   * <p>An image is read when the service takes it, in a thread of the stream. At most {@code maxInFlight} images have no
   * result or one that was not taken. The options are applied to the request of each image. Close the stream.
   */
  public <K> ImageStream<K> analyzeImages(
      Iterable<StreamImage<K>> images, Consumer<AnalyzeImageRequest.Builder> options) {
    return new ImageStream<>(images, calls, options);
  }

  /** Compares a face with every face of an image, or with an embedding. */
  public CompareFacesResponse compareFaces(FaceInput source, FaceInput target) {
    return compareFaces(source, target, request -> {});
  }

  /** Compares a face with every face of an image, or with an embedding. */
  public CompareFacesResponse compareFaces(
      FaceInput source, FaceInput target, Consumer<CompareFacesRequest.Builder> options) {
    return calls.run(
        FaceAnalysisServiceGrpc.getCompareFacesMethod(),
        () -> {
          var request = CompareFacesRequest.newBuilder().setSource(source.toMessage()).setTarget(target.toMessage());
          return Calls.with(request, options).build();
        });
  }

  /** Compares the most prominent faces of two images. */
  public Match matchFaces(ImageInput one, ImageInput other) {
    return matchFaces(one, other, request -> {});
  }

  /** Compares the faces of two images. A box selects the face of its image. */
  public Match matchFaces(ImageInput one, ImageInput other, Consumer<MatchFacesRequest.Builder> options) {
    var response =
        calls.run(
            FaceServiceGrpc.getMatchFacesMethod(),
            () -> {
              var request = MatchFacesRequest.newBuilder().setImg1(one.toMessage()).setImg2(other.toMessage());
              return Calls.with(request, options).build();
            });
    var data = response.getData();
    return new Match(Double.parseDouble(data.getScore()), data.getStatus().equals("match"));
  }

  /** Analyses all faces of an image. */
  public ImageAttributes getImageAttr(ImageInput image) {
    return getImageAttr(image, request -> {});
  }

  /** Analyses all faces of an image, or those in the boxes. */
  public ImageAttributes getImageAttr(ImageInput image, Consumer<GetImageAttrRequest.Builder> options) {
    var response =
        calls.run(
            FaceServiceGrpc.getGetImageAttrMethod(),
            () -> Calls.with(GetImageAttrRequest.newBuilder().setImageAttr(image.toMessage()), options).build());
    return imageAttributesFrom(response.getData().getAttributes());
  }

  /** Computes the template of the most prominent face. */
  public Template getFaceVec(ImageInput image) {
    return getFaceVec(image, request -> {});
  }

  /** Computes the template of a face. {@code setQuality(true)} rejects a face that is too small, dark or turned away. */
  public Template getFaceVec(ImageInput image, Consumer<GetFaceVecRequest.Builder> options) {
    var trailers = new AtomicReference<>(new Metadata());
    var capture = MetadataUtils.newCaptureMetadataInterceptor(new AtomicReference<>(), trailers);
    var response =
        calls.run(
            FaceServiceGrpc.getGetFaceVecMethod(),
            () -> Calls.with(GetFaceVecRequest.newBuilder().setImg(image.toMessage()), options).build(),
            capture);
    String model = trailers.get().get(MODEL);
    return new Template(Template.numbersOf(response.getData().getVectorList()), model == null ? "" : model);
  }

  /** Galleries: enrols people and identifies faces. */
  public Galleries galleries() {
    return galleries;
  }

  /** The account of the user: its plan, usage and keys. */
  public Account account() {
    return account;
  }

  /** The users and plans of the service, for its operator. The API key of the client is the admin key. */
  public Admin admin() {
    return admin;
  }

  /** The channel, which sends the API key, for generated stubs: {@code FaceServiceGrpc.newFutureStub(...)}. */
  public ManagedChannel channel() {
    return calls.channel();
  }

  /** Closes the connection. Calls in flight and calls that wait end with the reason {@code CANCELLED}. */
  @Override
  public void close() {
    calls.close();
  }

  private static ImageAttributes imageAttributesFrom(Attributes attributes) {
    // A Protobuf map is unordered.
    List<FaceAttributes> faces =
        IntStream.range(0, attributes.getFacesCount())
            .mapToObj(i -> faceAttributesFrom(attributes.getFacesOrThrow("face_id_" + i)))
            .toList();
    return new ImageAttributes(attributes.getImageSize(1), attributes.getImageSize(0), faces);
  }

  private static FaceAttributes faceAttributesFrom(Face face) {
    var box =
        BoundingBox.newBuilder()
            .setX1(face.getFaceRectangle(0))
            .setY1(face.getFaceRectangle(1))
            .setX2(face.getFaceRectangle(2))
            .setY2(face.getFaceRectangle(3))
            .build();
    return new FaceAttributes(
        box,
        face.getAge(),
        face.getGender(),
        face.getGenderConfidence(),
        face.getLandmarks().getFaceLandMarkMap());
  }
}
