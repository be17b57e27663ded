package dev.visage;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import dev.visage.face.v1.FaceServiceGrpc;
import dev.visage.face.v1.GetFaceVecData;
import dev.visage.face.v1.GetFaceVecRequest;
import dev.visage.face.v1.GetFaceVecResponse;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerCredentials;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** A service on a loopback port that answers GetFaceVec as the tests tell it. */
final class FakeService extends FaceServiceGrpc.FaceServiceImplBase implements AutoCloseable {
  /** The errors of the next calls; calls after them succeed. */
  final Queue<StatusRuntimeException> errors = new ConcurrentLinkedQueue<>();

  final List<GetFaceVecRequest> requests = new CopyOnWriteArrayList<>();
  final List<Metadata> headers = new CopyOnWriteArrayList<>();

  /** One permit per call that started. */
  final Semaphore started = new Semaphore(0);

  /** Called when a call starts. */
  volatile Runnable onStart = () -> {};

  /** How long each call takes. */
  volatile long durationMs;

  /** The largest number of calls at the same time. */
  final AtomicInteger peak = new AtomicInteger();

  private final AtomicInteger running = new AtomicInteger();
  private final ServerCredentials credentials;
  private volatile CountDownLatch answers = new CountDownLatch(0);
  private Server server;
  private int port;

  FakeService() throws IOException {
    this(InsecureServerCredentials.create());
  }

  FakeService(ServerCredentials credentials) throws IOException {
    this.credentials = credentials;
    start(0);
  }

  String address() {
    return "http://localhost:" + port;
  }

  int port() {
    return port;
  }

  /** Holds the answers of calls until the returned latch is counted down. */
  CountDownLatch holdAnswers() {
    answers = new CountDownLatch(1);
    return answers;
  }

  void stop() throws InterruptedException {
    server.shutdownNow().awaitTermination();
  }

  /** Starts again, on the same port. */
  void restart() throws IOException {
    start(port);
  }

  @Override
  public void close() {
    answers.countDown();
    server.shutdownNow();
  }

  @Override
  public void getFaceVec(GetFaceVecRequest request, StreamObserver<GetFaceVecResponse> observer) {
    requests.add(request);
    peak.accumulateAndGet(running.incrementAndGet(), Math::max);
    started.release();
    onStart.run();
    try {
      answers.await();
      Thread.sleep(durationMs);
    } catch (InterruptedException interrupt) {
      // The call was cancelled or the service stops.
      return;
    } finally {
      running.decrementAndGet();
    }
    StatusRuntimeException error = errors.poll();
    if (Context.current().isCancelled()) return;
    if (error != null) {
      observer.onError(error);
      return;
    }
    var data = GetFaceVecData.newBuilder().addVector(0.5f).addVector(-0.25f);
    observer.onNext(GetFaceVecResponse.newBuilder().setSuccess(true).setData(data).build());
    observer.onCompleted();
  }

  /** An error with the details that the service sends. A negative delay leaves out RetryInfo. */
  static StatusRuntimeException error(Status.Code code, String reason, boolean retryable, long retryAfterMs) {
    var info =
        ErrorInfo.newBuilder()
            .setReason(reason)
            .setDomain("visage")
            .putMetadata("code", "9999")
            .putMetadata("field", "img")
            .putMetadata("stage", "find")
            .putMetadata("retryable", String.valueOf(retryable));
    var status =
        com.google.rpc.Status.newBuilder()
            .setCode(code.value())
            .setMessage("What happened.")
            .addDetails(Any.pack(info.build()));
    if (retryAfterMs >= 0) {
      var delay = Duration.newBuilder().setSeconds(retryAfterMs / 1000);
      delay.setNanos((int) (retryAfterMs % 1000) * 1_000_000);
      status.addDetails(Any.pack(RetryInfo.newBuilder().setRetryDelay(delay).build()));
    }
    return StatusProto.toStatusRuntimeException(status.build());
  }

  /** UNAVAILABLE without details, with one trailer. */
  static <T> StatusRuntimeException unavailable(Metadata.Key<T> trailer, T value) {
    Metadata trailers = new Metadata();
    trailers.put(trailer, value);
    return Status.UNAVAILABLE.asRuntimeException(trailers);
  }

  private void start(int wantedPort) throws IOException {
    server =
        Grpc.newServerBuilderForPort(wantedPort, credentials)
            .addService(this)
            .intercept(new RecordHeaders())
            .build()
            .start();
    port = server.getPort();
  }

  private final class RecordHeaders implements ServerInterceptor {
    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata metadata, ServerCallHandler<Q, R> next) {
      headers.add(metadata);
      return next.startCall(call, metadata);
    }
  }
}
