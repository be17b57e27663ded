package visage.example;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import visage.face.v1.FaceServiceGrpc;
import visage.face.v1.Image;
import visage.face.v1.MatchFacesRequest;

/** Checks whether two photographs show the same person. Arguments: HOST:PORT USER_ID ONE TWO. */
public final class Example {
  private static final Metadata.Key<String> USER_ID =
      Metadata.Key.of("user_id", Metadata.ASCII_STRING_MARSHALLER);

  private Example() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    Metadata metadata = new Metadata();
    metadata.put(USER_ID, args[1]);
    ManagedChannel channel =
        Grpc.newChannelBuilder(args[0], InsecureChannelCredentials.create())
            .intercept(MetadataUtils.newAttachHeadersInterceptor(metadata))
            .build();
    MatchFacesRequest request =
        MatchFacesRequest.newBuilder().setImg1(imageFrom(args[2])).setImg2(imageFrom(args[3])).build();
    try {
      var faces = FaceServiceGrpc.newBlockingStub(channel).withDeadlineAfter(30, TimeUnit.SECONDS);
      var data = faces.matchFaces(request).getData();
      System.out.println(data.getStatus() + ": " + data.getScore());
    } catch (StatusRuntimeException error) {
      System.err.println(reasonOf(error) + " " + error.getStatus().getDescription());
    } finally {
      channel.shutdown().awaitTermination(5, TimeUnit.SECONDS);
    }
  }

  private static Image imageFrom(String path) throws IOException {
    return Image.newBuilder().setContent(ByteString.copyFrom(Files.readAllBytes(Path.of(path)))).build();
  }

  private static String reasonOf(StatusRuntimeException error) throws InvalidProtocolBufferException {
    for (Any detail : StatusProto.fromThrowable(error).getDetailsList()) {
      if (detail.is(ErrorInfo.class)) return detail.unpack(ErrorInfo.class).getReason();
    }
    return error.getStatus().getCode().name();
  }
}
