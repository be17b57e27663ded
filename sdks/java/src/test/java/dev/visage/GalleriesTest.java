package dev.visage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.visage.v1.CreateGalleryRequest;
import dev.visage.v1.CreateGalleryResponse;
import dev.visage.v1.DeleteGalleryRequest;
import dev.visage.v1.DeleteGalleryResponse;
import dev.visage.v1.ExportGalleryRequest;
import dev.visage.v1.ExportGalleryResponse;
import dev.visage.v1.GalleryServiceGrpc;
import dev.visage.v1.ImportFacesRequest;
import dev.visage.v1.ImportFacesResponse;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests what happens to calls of galleries that fail. */
@Timeout(60)
class GalleriesTest {
  private static final StatusRuntimeException DRAINING =
      FakeService.error(Status.Code.UNAVAILABLE, "DRAINING", true, 0);
  private static final StatusRuntimeException OVERLOADED =
      FakeService.error(Status.Code.UNAVAILABLE, "OVERLOADED", true, 0);

  private static final StatusRuntimeException INTERNAL =
      FakeService.error(Status.Code.INTERNAL, "INTERNAL", true, 0);
  private static final StatusRuntimeException NOT_FOUND =
      FakeService.error(Status.Code.NOT_FOUND, "GALLERY_NOT_FOUND", false, -1);

  /** Such as a connection that was lost after the request. */
  private static final StatusRuntimeException NO_RESPONSE = Status.UNAVAILABLE.asRuntimeException();

  private FailingService service;
  private VisageClient visage;

  /** Fails with the errors one after the other, then succeeds. */
  private static final class FailingService extends GalleryServiceGrpc.GalleryServiceImplBase {
    final Queue<StatusRuntimeException> errors = new ConcurrentLinkedQueue<>();
    final AtomicInteger calls = new AtomicInteger();
    final List<Integer> imported = new CopyOnWriteArrayList<>();
    final CountDownLatch exportCancelled = new CountDownLatch(1);

    /** Of an export, before its error. */
    volatile int facesBeforeError;

    /** Of an export. */
    volatile int faces = 3;

    /** Whether an export does not end after its faces. */
    volatile boolean hangs;

    private <T> boolean fails(StreamObserver<T> observer) {
      calls.incrementAndGet();
      StatusRuntimeException error = errors.poll();
      if (error != null) observer.onError(error);
      return error != null;
    }

    private <T> void answer(StreamObserver<T> observer, T response) {
      if (fails(observer)) return;
      observer.onNext(response);
      observer.onCompleted();
    }

    @Override
    public void createGallery(CreateGalleryRequest request, StreamObserver<CreateGalleryResponse> observer) {
      answer(observer, CreateGalleryResponse.getDefaultInstance());
    }

    @Override
    public void deleteGallery(DeleteGalleryRequest request, StreamObserver<DeleteGalleryResponse> observer) {
      answer(observer, DeleteGalleryResponse.getDefaultInstance());
    }

    @Override
    public void exportGallery(ExportGalleryRequest request, StreamObserver<ExportGalleryResponse> observer) {
      ((ServerCallStreamObserver<ExportGalleryResponse>) observer).setOnCancelHandler(exportCancelled::countDown);
      int count = faces;
      for (int i = 0; i <= count; i++) {
        if (i == facesBeforeError && fails(observer)) return;
        if (i < count) observer.onNext(ExportGalleryResponse.newBuilder().setPersonId("" + i).build());
      }
      if (!hangs) observer.onCompleted();
    }

    @Override
    public StreamObserver<ImportFacesRequest> importFaces(StreamObserver<ImportFacesResponse> observer) {
      return new StreamObserver<>() {
        private int count;

        @Override
        public void onNext(ImportFacesRequest face) {
          count++;
        }

        @Override
        public void onError(Throwable cancelled) {}

        @Override
        public void onCompleted() {
          if (fails(observer)) return;
          imported.add(count);
          observer.onNext(
              ImportFacesResponse.newBuilder().setFaceCount(count).setRevision(imported.size()).build());
          observer.onCompleted();
        }
      };
    }
  }

  private Server server;

  @BeforeEach
  void start() throws IOException {
    service = new FailingService();
    server = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create()).addService(service).build().start();
    visage = builder().build();
  }

  @AfterEach
  void stop() {
    visage.close();
    server.shutdownNow();
  }

  private VisageClientBuilder builder() {
    return VisageClient.builder("http://localhost:" + server.getPort()).apiKey("key-of-tests");
  }

  private List<String> export() {
    try (var export = visage.galleries().export("staff")) {
      return StreamSupport.stream(export.spliterator(), false).map(GalleryFace::personId).toList();
    }
  }

  private static GalleryFace face(int number) {
    return new GalleryFace("ann", "" + number, "", new Template(new float[1], "model"), Optional.empty());
  }

  @Test
  void retriesACreationOnlyAfterARejection() {
    service.errors.addAll(List.of(OVERLOADED, OVERLOADED));
    visage.galleries().create("staff");
    assertEquals(3, service.calls.get());
    for (var error : List.of(NO_RESPONSE, INTERNAL)) {
      service.calls.set(0);
      service.errors.add(error);
      assertThrows(VisageException.class, () -> visage.galleries().create("staff"));
      assertEquals(1, service.calls.get());
    }
  }

  @Test
  void retriesADeletion() {
    service.errors.addAll(List.of(NO_RESPONSE, DRAINING));
    visage.galleries().delete("staff");
    assertEquals(3, service.calls.get());
  }

  @Test
  void deletesAlthoughAResponseWasLost() {
    service.errors.addAll(List.of(NO_RESPONSE, NOT_FOUND));
    visage.galleries().delete("staff");
    assertEquals(2, service.calls.get());
    for (var errors : List.of(List.of(NOT_FOUND), List.of(OVERLOADED, NOT_FOUND))) {
      service.errors.addAll(errors);
      var error = assertThrows(VisageException.class, () -> visage.galleries().delete("staff"));
      assertEquals("GALLERY_NOT_FOUND", error.reason());
    }
  }

  @Test
  void continuesAnExportAfterABreak() {
    for (int before : List.of(0, 2, 3)) {
      service.calls.set(0);
      service.facesBeforeError = before;
      service.errors.addAll(List.of(NO_RESPONSE, OVERLOADED));
      assertEquals(List.of("0", "1", "2"), export());
      assertEquals(3, service.calls.get());
    }
  }

  @Test
  void failsIfAnExportMakesNoProgress() {
    service.facesBeforeError = 2;
    service.errors.addAll(List.of(DRAINING, DRAINING, DRAINING, DRAINING));
    List<GalleryFace> taken = new ArrayList<>();
    try (var export = visage.galleries().export("staff")) {
      var error = assertThrows(VisageException.class, () -> export.forEach(taken::add));
      assertEquals("DRAINING", error.reason());
      assertTrue(error.retryable());
    }
    assertEquals(2, taken.size());
    assertEquals(4, service.calls.get());
  }

  @Test
  void failsIfTheLastFaceWasDeletedMeanwhile() {
    service.facesBeforeError = 2;
    service.errors.add(DRAINING);
    try (var export = visage.galleries().export("staff")) {
      var faces = export.iterator();
      faces.next();
      service.faces = 1;
      faces.next();
      assertEquals("UNREACHABLE", assertThrows(VisageException.class, faces::hasNext).reason());
    }
  }

  @Test
  void endsAnExportThatIsLeft() throws InterruptedException {
    service.hangs = true;
    try (var export = visage.galleries().export("staff")) {
      assertEquals("0", export.iterator().next().personId());
    }
    assertTrue(service.exportCancelled.await(30, TimeUnit.SECONDS));
  }

  @Test
  void endsTheWaitForAFaceWhenTheExportIsClosed() throws Exception {
    service.hangs = true;
    var executor = Executors.newSingleThreadExecutor();
    try (var export = visage.galleries().export("staff")) {
      var faces = export.iterator();
      for (int i = 0; i < 3; i++) faces.next();
      var wait = executor.submit(() -> assertThrows(VisageException.class, faces::hasNext).reason());
      // Most often the thread waits by then.
      Thread.sleep(100);
      export.close();
      assertEquals("CANCELLED", wait.get(20, TimeUnit.SECONDS));
    } finally {
      executor.shutdownNow();
    }
  }

  @Test
  void failsIfNoFaceComesInTime() throws InterruptedException {
    service.hangs = true;
    try (var hasty = builder().timeout(Duration.ofSeconds(1)).build();
        var export = hasty.galleries().export("staff")) {
      List<GalleryFace> taken = new ArrayList<>();
      var error = assertThrows(VisageException.class, () -> export.forEach(taken::add));
      assertEquals("DEADLINE_PASSED", error.reason());
      assertEquals(3, taken.size());
      assertTrue(service.exportCancelled.await(30, TimeUnit.SECONDS));
    }
  }

  @Test
  void endsAnExportWhenItsThreadIsInterrupted() throws InterruptedException {
    service.hangs = true;
    try (var export = visage.galleries().export("staff")) {
      var faces = export.iterator();
      for (int i = 0; i < 3; i++) faces.next();
      Thread.currentThread().interrupt();
      assertEquals("CANCELLED", assertThrows(VisageException.class, faces::hasNext).reason());
      assertTrue(Thread.interrupted());
      assertTrue(service.exportCancelled.await(30, TimeUnit.SECONDS));
    }
  }

  @Test
  void retriesEachCallOfAnImport() {
    service.errors.addAll(List.of(OVERLOADED, NO_RESPONSE));
    Iterable<GalleryFace> faces = () -> IntStream.range(0, 10_001).mapToObj(GalleriesTest::face).iterator();
    var response = visage.galleries().importFaces("staff", faces);
    assertEquals(10_001, response.getFaceCount());
    assertEquals(3, response.getRevision());
    assertEquals(List.of(5000, 5000, 1), service.imported);
    assertEquals(5, service.calls.get());
  }

  @Test
  void importsFacesThatComeFromOtherCalls() {
    // An import that kept its slot while it reads the faces would wait for itself.
    try (var narrow = builder().maxInFlight(1).build();
        var export = narrow.galleries().export("staff")) {
      var faces =
          StreamSupport.stream(export.spliterator(), false).peek(face -> narrow.galleries().delete("other"));
      assertEquals(3, narrow.galleries().importFaces("copy", faces::iterator).getFaceCount());
    }
  }
}
