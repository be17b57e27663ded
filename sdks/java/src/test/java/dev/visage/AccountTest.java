package dev.visage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.visage.v1.AccountServiceGrpc;
import dev.visage.v1.CreateKeyRequest;
import dev.visage.v1.CreateKeyResponse;
import dev.visage.v1.DeleteKeyRequest;
import dev.visage.v1.DeleteKeyResponse;
import dev.visage.v1.GetUsageRequest;
import dev.visage.v1.GetUsageResponse;
import dev.visage.v1.UsageCount;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests which calls of an account are repeated. */
@Timeout(60)
class AccountTest {
  private static final StatusRuntimeException OVERLOADED =
      FakeService.error(Status.Code.UNAVAILABLE, "OVERLOADED", true, 0);
  private static final StatusRuntimeException NOT_FOUND =
      FakeService.error(Status.Code.NOT_FOUND, "KEY_NOT_FOUND", false, -1);

  /** Such as a connection that was lost after the request. */
  private static final StatusRuntimeException NO_RESPONSE = Status.UNAVAILABLE.asRuntimeException();

  private final Queue<StatusRuntimeException> errors = new ConcurrentLinkedQueue<>();
  private final AtomicInteger requests = new AtomicInteger();
  private Server server;
  private VisageClient visage;

  /** Fails with the errors one after the other, then succeeds. */
  private final class FailingService extends AccountServiceGrpc.AccountServiceImplBase {
    private <T> void answer(StreamObserver<T> observer, T response) {
      requests.incrementAndGet();
      StatusRuntimeException error = errors.poll();
      if (error != null) {
        observer.onError(error);
        return;
      }
      observer.onNext(response);
      observer.onCompleted();
    }

    @Override
    public void getUsage(GetUsageRequest request, StreamObserver<GetUsageResponse> observer) {
      var count = UsageCount.newBuilder().setMonth(request.getFirstMonth());
      answer(observer, GetUsageResponse.newBuilder().addCounts(count).build());
    }

    @Override
    public void createKey(CreateKeyRequest request, StreamObserver<CreateKeyResponse> observer) {
      answer(observer, CreateKeyResponse.getDefaultInstance());
    }

    @Override
    public void deleteKey(DeleteKeyRequest request, StreamObserver<DeleteKeyResponse> observer) {
      answer(observer, DeleteKeyResponse.getDefaultInstance());
    }
  }

  @BeforeEach
  void start() throws IOException {
    var credentials = InsecureServerCredentials.create();
    server = Grpc.newServerBuilderForPort(0, credentials).addService(new FailingService()).build().start();
    visage = VisageClient.builder("http://localhost:" + server.getPort()).apiKey("key-of-tests").build();
  }

  @AfterEach
  void stop() {
    visage.close();
    server.shutdownNow();
  }

  @Test
  void readsAfterALostResponse() {
    errors.add(NO_RESPONSE);
    var usage = visage.account().getUsage(request -> request.setFirstMonth("2026-01"));
    assertEquals("2026-01", usage.getCounts(0).getMonth());
    assertEquals(2, requests.get());
  }

  @Test
  void createsAKeyAgainOnlyAfterARejection() {
    errors.addAll(List.of(OVERLOADED, NO_RESPONSE));
    var error = assertThrows(VisageException.class, () -> visage.account().createKey(request -> {}));
    assertEquals("UNREACHABLE", error.reason());
    assertEquals(2, requests.get());
  }

  @Test
  void deletesAKeyAlthoughAResponseWasLost() {
    errors.addAll(List.of(NO_RESPONSE, NOT_FOUND));
    visage.account().deleteKey(request -> request.setFingerprint("0123"));
    assertEquals(2, requests.get());
    errors.add(NOT_FOUND);
    var error = assertThrows(VisageException.class, () -> visage.account().deleteKey(request -> {}));
    assertEquals("KEY_NOT_FOUND", error.reason());
  }
}
