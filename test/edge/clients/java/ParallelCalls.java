import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import dev.visage.face.v1.FaceServiceGrpc;
import dev.visage.face.v1.GetFaceVecRequest;
import dev.visage.face.v1.GetFaceVecResponse;
import dev.visage.face.v1.Image;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Makes many parallel GetFaceVec calls on one connection and prints how they ended, as JSON, given
 * HOST:PORT USER_ID PHOTO CALLS DEADLINE_SECONDS.
 */
public final class ParallelCalls {
  private static final Metadata.Key<String> USER_ID =
      Metadata.Key.of("user_id", Metadata.ASCII_STRING_MARSHALLER);

  private ParallelCalls() {}

  public static void main(String[] args) throws Exception {
    Metadata metadata = new Metadata();
    metadata.put(USER_ID, args[1]);
    ManagedChannel channel =
        Grpc.newChannelBuilder(args[0], InsecureChannelCredentials.create())
            .intercept(MetadataUtils.newAttachHeadersInterceptor(metadata))
            .build();
    ByteString photo = ByteString.copyFrom(Files.readAllBytes(Path.of(args[2])));
    GetFaceVecRequest request =
        GetFaceVecRequest.newBuilder().setImg(Image.newBuilder().setContent(photo)).build();
    int calls = Integer.parseInt(args[3]);
    int seconds = Integer.parseInt(args[4]);
    Map<String, Integer> outcomes = new TreeMap<>();
    CountDownLatch left = new CountDownLatch(calls);
    var faces = FaceServiceGrpc.newStub(channel).withDeadlineAfter(seconds, TimeUnit.SECONDS);
    for (int i = 0; i < calls; i++) {
      faces.getFaceVec(
          request,
          new StreamObserver<GetFaceVecResponse>() {
            @Override
            public void onNext(GetFaceVecResponse response) {}

            @Override
            public void onError(Throwable error) {
              end(outcomeOf(error));
            }

            @Override
            public void onCompleted() {
              end("OK");
            }

            private void end(String outcome) {
              synchronized (outcomes) {
                outcomes.merge(outcome, 1, Integer::sum);
              }
              left.countDown();
            }
          });
    }
    left.await(seconds + 10, TimeUnit.SECONDS);
    synchronized (outcomes) {
      System.out.println(
          outcomes.entrySet().stream()
              .map(entry -> quoted(entry.getKey()) + ":" + entry.getValue())
              .collect(Collectors.joining(",", "{", "}")));
    }
    channel.shutdownNow();
  }

  private static String outcomeOf(Throwable error) {
    String name = ((StatusRuntimeException) error).getStatus().getCode().name();
    try {
      for (Any detail : StatusProto.fromThrowable(error).getDetailsList()) {
        if (detail.is(ErrorInfo.class))
          return name + " " + detail.unpack(ErrorInfo.class).getMetadataOrDefault("code", "");
      }
    } catch (InvalidProtocolBufferException unreadable) {
      return name + " unreadable details";
    }
    return name + " " + ((StatusRuntimeException) error).getStatus().getDescription();
  }

  private static String quoted(String text) {
    return '"' + text.replaceAll("[^ -~]|[\"\\\\]", "?") + '"';
  }
}
