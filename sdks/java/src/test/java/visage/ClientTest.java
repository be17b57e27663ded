package visage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.rpc.ErrorInfo;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import visage.face.v1.FaceServiceGrpc;
import visage.face.v1.GetFaceVecRequest;
import visage.face.v1.GetImageAttrRequest;
import visage.face.v1.Image;
import visage.face.v1.MatchFacesRequest;

/**
 * Tests the client against a running service, given by VISAGE_ADDRESS, VISAGE_USER_ID and VISAGE_PHOTOS.
 */
class ClientTest {
  private static ManagedChannel channel;
  private static FaceServiceGrpc.FaceServiceBlockingStub faces;

  @BeforeAll
  static void connect() {
    Metadata metadata = new Metadata();
    metadata.put(
        Metadata.Key.of("user_id", Metadata.ASCII_STRING_MARSHALLER), System.getenv("VISAGE_USER_ID"));
    channel =
        Grpc.newChannelBuilder(System.getenv("VISAGE_ADDRESS"), InsecureChannelCredentials.create())
            .intercept(MetadataUtils.newAttachHeadersInterceptor(metadata))
            .build();
    faces = FaceServiceGrpc.newBlockingStub(channel);
  }

  @AfterAll
  static void disconnect() {
    channel.shutdownNow();
  }

  @Test
  void matchesTwoPhotographs() throws IOException {
    var request = MatchFacesRequest.newBuilder().setImg1(photo(3)).setImg2(photo(3)).build();
    var answer = faces.matchFaces(request);
    assertTrue(answer.getSuccess());
    assertEquals("match", answer.getData().getStatus());
    assertTrue(answer.getData().getScore().matches("0\\.\\d{4}"));
  }

  @Test
  void turnsAFaceIntoAVector() throws IOException {
    var answer = faces.getFaceVec(GetFaceVecRequest.newBuilder().setImg(photo(1)).build());
    assertEquals(128, answer.getData().getVectorCount());
  }

  @Test
  void tellsEveryFace() throws IOException {
    var request = GetImageAttrRequest.newBuilder().setImageAttr(photo(1)).build();
    var attributes = faces.getImageAttr(request).getData().getAttributes();
    assertEquals(List.of(1280, 1920), attributes.getImageSizeList());
    assertEquals(3, attributes.getFacesCount());
    assertEquals(68, attributes.getFacesOrThrow("face_id_0").getLandmarks().getFaceLandMarkCount());
  }

  @Test
  void readsWhyARequestFailed() throws IOException {
    var request = GetFaceVecRequest.newBuilder().setImg(imageOf(ByteString.copyFromUtf8("no image"))).build();
    var error = assertThrows(StatusRuntimeException.class, () -> faces.getFaceVec(request));
    assertEquals(Status.Code.INVALID_ARGUMENT, error.getStatus().getCode());
    var info = StatusProto.fromThrowable(error).getDetails(0).unpack(ErrorInfo.class);
    assertEquals("UNSUPPORTED_FORMAT", info.getReason());
    assertEquals("2004", info.getMetadataOrThrow("code"));
  }

  @Test
  void endsAtTheDeadline() throws IOException {
    var request = GetFaceVecRequest.newBuilder().setImg(photo(1)).build();
    var hurried = faces.withDeadlineAfter(1, TimeUnit.MILLISECONDS);
    var error = assertThrows(StatusRuntimeException.class, () -> hurried.getFaceVec(request));
    assertEquals(Status.Code.DEADLINE_EXCEEDED, error.getStatus().getCode());
  }

  private static Image photo(int number) throws IOException {
    Path path = Path.of(System.getenv("VISAGE_PHOTOS"), "sample" + number + ".jpg");
    return imageOf(ByteString.copyFrom(Files.readAllBytes(path)));
  }

  private static Image imageOf(ByteString content) {
    return Image.newBuilder().setContent(content).build();
  }
}
