package dev.visage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class CallsInFlightTest {
  private static final ImageInput IMAGE = ImageInput.ofBytes(new byte[] {1});

  private FakeService service;
  private VisageClient client;

  @BeforeEach
  void start() throws IOException {
    service = new FakeService();
    client = VisageClient.builder(service.address()).maxInFlight(2).build();
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

  /** A call in a thread of its own. */
  private record Running<T>(Thread thread, CompletableFuture<T> result) {
    static <T> Running<T> of(Callable<T> call) {
      var result = new CompletableFuture<T>();
      var thread =
          new Thread(
              () -> {
                try {
                  result.complete(call.call());
                } catch (Throwable error) {
                  result.completeExceptionally(error);
                }
              });
      thread.start();
      return new Running<>(thread, result);
    }

    /** Waits until the thread waits for a slot or a response. */
    void awaitWaiting() throws InterruptedException {
      awaitState(Thread.State.WAITING);
    }

    /** Waits until the thread waits for the time of its next attempt. */
    void awaitDelay() throws InterruptedException {
      awaitState(Thread.State.TIMED_WAITING);
    }

    private void awaitState(Thread.State state) throws InterruptedException {
      while (thread.getState() != state) Thread.sleep(1);
    }

    VisageException failure() {
      var error = assertThrows(ExecutionException.class, result::get);
      return assertInstanceOf(VisageException.class, error.getCause());
    }
  }

  private Running<Template> startCall() {
    return Running.of(() -> client.getFaceVec(IMAGE));
  }

  /** Starts calls until both slots are taken, and one that waits. */
  private Running<Template> startWaitingCall() throws InterruptedException {
    startCall();
    startCall();
    service.started.acquire(2);
    var waiting = startCall();
    waiting.awaitWaiting();
    return waiting;
  }

  @Test
  void limitsTheCallsInFlight() throws Exception {
    configure(builder -> builder.maxInFlight(8));
    CountDownLatch answers = service.holdAnswers();
    List<Running<Template>> calls = new ArrayList<>();
    for (int i = 0; i < 300; i++) calls.add(startCall());
    service.started.acquire(8);
    for (var call : calls) call.awaitWaiting();
    answers.countDown();
    for (var call : calls) call.result.get();
    assertEquals(8, service.peak.get());
    assertEquals(300, service.requests.size());
  }

  @Test
  void doesNotCountTheWaitAgainstTheDeadline() throws Exception {
    configure(builder -> builder.maxInFlight(1).timeout(Duration.ofSeconds(2)));
    service.durationMs = 600;
    List<Running<Template>> calls = new ArrayList<>();
    for (int i = 0; i < 4; i++) calls.add(startCall());
    for (var call : calls) call.result.get();
  }

  @Test
  void readsFilesOnlyWhenTheCallStarts(@TempDir Path folder) throws Exception {
    CountDownLatch answers = service.holdAnswers();
    startWaitingCall();
    Path file = folder.resolve("photo.jpg");
    var call = Running.of(() -> client.getFaceVec(ImageInput.ofFile(file)));
    call.awaitWaiting();
    Files.write(file, new byte[] {7});
    answers.countDown();
    call.result.get();
  }

  @Test
  void releasesTheSlotOfAFileThatCannotBeRead() {
    var missing = ImageInput.ofFile(Path.of("missing.jpg"));
    for (int i = 0; i < 3; i++) {
      var error = assertThrows(VisageException.class, () -> client.getFaceVec(missing));
      assertEquals("UNREADABLE_IMAGE", error.reason());
      assertTrue(error.getMessage().contains("missing.jpg"), error.getMessage());
      assertFalse(error.retryable());
      assertInstanceOf(NoSuchFileException.class, error.getCause());
    }
    client.getFaceVec(IMAGE);
  }

  @Test
  void endsAWaitingCallOnInterrupt() throws Exception {
    service.holdAnswers();
    var waiting = startWaitingCall();
    waiting.thread.interrupt();
    assertEquals("CANCELLED", waiting.failure().reason());
    assertEquals(2, service.requests.size());
  }

  @Test
  void endsACallInFlightOnInterruptAndKeepsTheInterrupt() throws Exception {
    service.holdAnswers();
    var call =
        Running.of(
            () -> {
              var error = assertThrows(VisageException.class, () -> client.getFaceVec(IMAGE));
              assertTrue(Thread.currentThread().isInterrupted());
              return error;
            });
    service.started.acquire();
    call.thread.interrupt();
    assertEquals("CANCELLED", call.result.get().reason());
  }

  /** Starts a call whose next attempt is later than the end of the test. */
  private Running<Template> startDelayedCall() throws InterruptedException {
    configure(builder -> builder.timeout(Duration.ofHours(1)));
    service.errors.add(FakeService.error(Status.Code.UNAVAILABLE, "OVERLOADED", true, 600_000));
    var call = startCall();
    call.awaitDelay();
    return call;
  }

  @Test
  void endsADelayOnInterrupt() throws Exception {
    var call = startDelayedCall();
    call.thread.interrupt();
    assertEquals("CANCELLED", call.failure().reason());
  }

  @Test
  void endsAllCallsOnClose() throws Exception {
    service.holdAnswers();
    var waiting = startWaitingCall();
    client.close();
    assertEquals("CANCELLED", waiting.failure().reason());
    assertEquals(2, service.requests.size());
    // Later calls do not even read their files.
    var missing = ImageInput.ofFile(Path.of("missing.jpg"));
    var error = assertThrows(VisageException.class, () -> client.getFaceVec(missing));
    assertEquals("CANCELLED", error.reason());
  }

  @Test
  void endsADelayOnClose() throws Exception {
    var call = startDelayedCall();
    client.close();
    assertEquals("CANCELLED", call.failure().reason());
  }
}
