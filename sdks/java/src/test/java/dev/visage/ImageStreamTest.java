package dev.visage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.visage.v1.AnalyzeImageResponse;
import dev.visage.v1.AnalyzeImagesRequest;
import dev.visage.v1.AnalyzeImagesResponse;
import dev.visage.v1.FaceAnalysisServiceGrpc;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests what happens to a stream that breaks. */
@Timeout(60)
class ImageStreamTest {
  private static final ImageInput PHOTO = ImageInput.ofBytes(new byte[10]);

  /** Reads some images of each stream, answers some of them and fails. */
  private static final class BreakingService extends FaceAnalysisServiceGrpc.FaceAnalysisServiceImplBase
      implements AutoCloseable {
    private final int reads;
    private final int answers;
    private final Server server;
    final AtomicInteger streams = new AtomicInteger();
    final Semaphore failures = new Semaphore(0);

    BreakingService(int reads, int answers) throws IOException {
      this.reads = reads;
      this.answers = answers;
      var credentials = InsecureServerCredentials.create();
      server = Grpc.newServerBuilderForPort(0, credentials).addService(this).build().start();
    }

    VisageClientBuilder client() {
      return VisageClient.builder("http://localhost:" + server.getPort()).apiKey("key-of-tests");
    }

    @Override
    public StreamObserver<AnalyzeImagesRequest> analyzeImages(StreamObserver<AnalyzeImagesResponse> responses) {
      streams.incrementAndGet();
      return new StreamObserver<>() {
        private int number;

        @Override
        public void onNext(AnalyzeImagesRequest request) {
          if (++number > reads) return;
          if (number <= answers) {
            var response = AnalyzeImageResponse.getDefaultInstance();
            responses.onNext(
                AnalyzeImagesResponse.newBuilder().setKey(request.getKey()).setResponse(response).build());
          }
          if (number == reads) {
            responses.onError(FakeService.error(Status.Code.UNAVAILABLE, "DRAINING", true, 0));
            failures.release();
          }
        }

        @Override
        public void onError(Throwable cancelled) {}

        @Override
        public void onCompleted() {
          if (number < reads) responses.onCompleted();
        }
      };
    }

    @Override
    public void close() {
      server.shutdownNow();
    }
  }

  private static List<StreamImage<Integer>> images(int count) {
    return IntStream.range(0, count).mapToObj(key -> new StreamImage<>(key, PHOTO)).toList();
  }

  @Test
  void sendsImagesWithoutAResultAgain() throws IOException {
    try (var service = new BreakingService(5, 3);
        var visage = service.client().build();
        var results = visage.analyzeImages(images(20))) {
      List<Integer> keys = new ArrayList<>();
      for (var result : results) {
        assertTrue(result.response().isPresent());
        keys.add(result.key());
      }
      assertEquals(IntStream.range(0, 20).boxed().toList(), keys.stream().sorted().toList());
      // Three results a stream.
      assertTrue(service.streams.get() >= 7, "" + service.streams);
    }
  }

  @Test
  void failsWithoutProgress() throws IOException {
    try (var service = new BreakingService(1, 0);
        var visage = service.client().retries(2).build();
        var results = visage.analyzeImages(images(1))) {
      var error = assertThrows(VisageException.class, () -> results.iterator().hasNext());
      assertEquals("DRAINING", error.reason());
      assertEquals(3, service.streams.get());
    }
  }

  @Test
  void opensAStreamAgainThatEndsWhileNoImageIsDue() throws IOException {
    try (var service = new BreakingService(1, 1);
        var visage = service.client().build()) {
      Iterable<StreamImage<Integer>> slow =
          () ->
              new Iterator<>() {
                private int count;

                @Override
                public boolean hasNext() {
                  return count < 3;
                }

                @Override
                public StreamImage<Integer> next() {
                  try {
                    if (count > 0) assertTrue(service.failures.tryAcquire(30, TimeUnit.SECONDS));
                    // The end of the stream most often arrives before the next image.
                    Thread.sleep(50);
                  } catch (InterruptedException interrupt) {
                    throw new IllegalStateException(interrupt);
                  }
                  return new StreamImage<>(count++, PHOTO);
                }
              };
      List<Integer> keys = new ArrayList<>();
      try (var results = visage.analyzeImages(slow)) {
        for (var result : results) keys.add(result.key());
      }
      assertEquals(List.of(0, 1, 2), keys);
    }
  }

  @Test
  void throwsTheExceptionOfTheOptions() throws IOException {
    try (var service = new BreakingService(100, 100);
        var visage = service.client().build();
        var results = visage.analyzeImages(images(1), request -> request.setMaxFaces(Integer.parseInt("many")))) {
      assertThrows(NumberFormatException.class, () -> results.iterator().hasNext());
    }
  }

  @Test
  void throwsTheExceptionOfTheImagesAfterTheirResults() throws IOException {
    try (var service = new BreakingService(100, 100);
        var visage = service.client().build()) {
      Iterable<StreamImage<Integer>> failing =
          () ->
              IntStream.range(0, 3)
                  .mapToObj(
                      key -> {
                        if (key == 2) throw new IllegalStateException("The disk is gone.");
                        return new StreamImage<>(key, PHOTO);
                      })
                  .iterator();
      List<Integer> keys = new ArrayList<>();
      try (var results = visage.analyzeImages(failing)) {
        var error =
            assertThrows(
                IllegalStateException.class, () -> results.forEach(result -> keys.add(result.key())));
        assertEquals("The disk is gone.", error.getMessage());
      }
      assertEquals(List.of(0, 1), keys.stream().sorted().toList());
    }
  }
}
