package dev.visage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.ConnectivityState;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Status;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RetryTest {
  private static final ImageInput IMAGE = ImageInput.ofBytes(new byte[] {1});
  private static final Metadata.Key<String> PUSHBACK =
      Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER);
  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

  private FakeService service;
  private VisageClient client;

  @BeforeEach
  void start() throws IOException {
    service = new FakeService();
    client = VisageClient.builder(service.address()).retries(5).build();
  }

  /** Replaces the client. */
  private void configure(UnaryOperator<VisageClientBuilder> options) {
    client.close();
    client = options.apply(VisageClient.builder(service.address())).build();
  }

  @AfterEach
  void stop() {
    client.close();
    service.close();
  }

  private VisageException failure() {
    return assertThrows(VisageException.class, () -> client.getFaceVec(IMAGE));
  }

  @Test
  void waitsAsLongAsTheServiceAsks() {
    service.errors.add(FakeService.error(Status.Code.UNAVAILABLE, "OVERLOADED", true, 400));
    long before = System.nanoTime();
    assertEquals(2, client.getFaceVec(IMAGE).embedding().length);
    assertTrue(System.nanoTime() - before >= 400_000_000L);
    assertEquals(2, service.requests.size());
  }

  @Test
  void doesNotRetryWhatCannotSucceed() {
    service.errors.add(FakeService.error(Status.Code.FAILED_PRECONDITION, "NO_FACE", false, -1));
    VisageException error = failure();
    assertEquals("NO_FACE", error.reason());
    assertEquals(Optional.of("9999"), error.code());
    assertEquals(Optional.of("img"), error.field());
    assertEquals(Optional.of("find"), error.stage());
    assertFalse(error.retryable());
    assertEquals(Duration.ZERO, error.retryAfter());
    assertEquals("What happened.", error.getMessage());
    assertEquals(1, service.requests.size());
  }

  @Test
  void retriesAnInternalErrorOnce() {
    for (int i = 0; i < 3; i++) {
      service.errors.add(FakeService.error(Status.Code.INTERNAL, "INTERNAL", true, 0));
    }
    assertEquals("INTERNAL", failure().reason());
    assertEquals(2, service.requests.size());
  }

  @Test
  void failsAtOnceIfTheDelayExceedsTheDeadline() {
    service.errors.add(FakeService.error(Status.Code.RESOURCE_EXHAUSTED, "TOO_MANY_REQUESTS", true, 86_400_000));
    VisageException error = failure();
    assertEquals("TOO_MANY_REQUESTS", error.reason());
    assertEquals(Duration.ofDays(1), error.retryAfter());
    assertTrue(error.retryable());
    assertEquals(1, service.requests.size());
  }

  @Test
  void doesNotRetryIfTheQuotaIsSpent() {
    service.errors.add(FakeService.error(Status.Code.RESOURCE_EXHAUSTED, "QUOTA_SPENT", false, 0));
    assertEquals("QUOTA_SPENT", failure().reason());
    assertEquals(1, service.requests.size());
  }

  @Test
  void givesUpAfterTheLastRetry() {
    configure(builder -> builder.retries(1));
    for (int i = 0; i < 3; i++) {
      service.errors.add(FakeService.error(Status.Code.UNAVAILABLE, "DRAINING", true, 0));
    }
    assertEquals("DRAINING", failure().reason());
    assertEquals(2, service.requests.size());
  }

  @Test
  void retriesThreeTimesByDefault() {
    configure(builder -> builder);
    for (int i = 0; i < 4; i++) {
      service.errors.add(FakeService.error(Status.Code.UNAVAILABLE, "DRAINING", true, 0));
    }
    assertEquals("DRAINING", failure().reason());
    assertEquals(4, service.requests.size());
  }

  @Test
  void retriesRejectionsUntilTheDeadline() {
    configure(builder -> builder.retries(1));
    for (int i = 0; i < 4; i++) {
      service.errors.add(FakeService.error(Status.Code.UNAVAILABLE, "OVERLOADED", true, 0));
    }
    client.getFaceVec(IMAGE);
    assertEquals(5, service.requests.size());

    configure(builder -> builder.retries(0));
    service.errors.add(FakeService.error(Status.Code.UNAVAILABLE, "OVERLOADED", true, 0));
    assertEquals("OVERLOADED", failure().reason());
  }

  @Test
  void retriesAStreamThatAProxyResets() {
    service.errors.add(Status.CANCELLED.asRuntimeException());
    client.getFaceVec(IMAGE);
    assertEquals(2, service.requests.size());
  }

  @Test
  void endsWithTheContextOfTheCaller() {
    service.holdAnswers();
    var context = Context.current().withCancellation();
    service.onStart = () -> context.cancel(null);
    context.run(() -> assertEquals("CANCELLED", failure().reason()));
    assertEquals(1, service.requests.size());
  }

  @Test
  void obeysPushbackWithoutDetails() {
    service.errors.add(FakeService.unavailable(PUSHBACK, "300"));
    long before = System.nanoTime();
    client.getFaceVec(IMAGE);
    assertTrue(System.nanoTime() - before >= 300_000_000L);

    for (String value : new String[] {"-1", "soon"}) {
      service.requests.clear();
      service.errors.add(FakeService.unavailable(PUSHBACK, value));
      assertFalse(failure().retryable());
      assertEquals(1, service.requests.size());
    }
  }

  @Test
  void ignoresMalformedDetails() {
    service.errors.add(FakeService.unavailable(DETAILS, new byte[] {0}));
    client.getFaceVec(IMAGE);
    assertEquals(2, service.requests.size());
  }

  @Test
  void callsAnUnavailableServiceUnreachable() throws InterruptedException {
    configure(builder -> builder.retries(1));
    service.stop();
    VisageException error = failure();
    assertEquals("UNREACHABLE", error.reason());
    assertTrue(error.getMessage().startsWith("Cannot reach " + service.address() + ": "), error.getMessage());
    assertEquals(Optional.empty(), error.code());
    assertTrue(error.retryable());
  }

  @Test
  void connectsAgainWithoutTheBackoffOfTheChannel() throws Exception {
    configure(builder -> builder.retries(0));
    client.getFaceVec(IMAGE);
    service.stop();
    // The first call may fail with the lost connection, and the channel changes its state after a call has failed.
    do {
      failure();
      Thread.sleep(10);
    } while (client.channel().getState(false) != ConnectivityState.TRANSIENT_FAILURE);
    service.restart();
    client.getFaceVec(IMAGE);
  }

  @Test
  void endsAtTheDeadline() {
    configure(builder -> builder.timeout(Duration.ofMillis(200)));
    service.holdAnswers();
    assertEquals("DEADLINE_PASSED", failure().reason());
    // None if the machine is too busy to connect in time.
    assertTrue(service.requests.size() <= 1);
  }
}
