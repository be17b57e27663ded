package dev.visage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Message;
import dev.visage.v1.CreateGalleryRequest;
import dev.visage.v1.CreateGalleryResponse;
import dev.visage.v1.DeletePersonRequest;
import dev.visage.v1.DeletePersonResponse;
import dev.visage.v1.Embedding;
import dev.visage.v1.EnrolFaceRequest;
import dev.visage.v1.EnrolFaceResponse;
import dev.visage.v1.ExportGalleryResponse;
import dev.visage.v1.ExportPersonRequest;
import dev.visage.v1.ExportPersonResponse;
import dev.visage.v1.GalleryServiceGrpc;
import dev.visage.v1.ImportFacesRequest;
import dev.visage.v1.UpdateGalleryRequest;
import dev.visage.v1.UpdateGalleryResponse;
import dev.visage.v1.UpdatePersonRequest;
import dev.visage.v1.UpdatePersonResponse;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests how long people are kept, their exports and their receipts. */
@Timeout(60)
class PeopleTest {
  private static final StatusRuntimeException DRAINING =
      FakeService.error(Status.Code.UNAVAILABLE, "DRAINING", true, 0);
  private static final StatusRuntimeException NOT_FOUND =
      FakeService.error(Status.Code.NOT_FOUND, "PERSON_NOT_FOUND", false, -1);
  private static final StatusRuntimeException NO_RESPONSE = Status.UNAVAILABLE.asRuntimeException();

  private static final Instant END = Instant.parse("2100-01-01T00:00:00.5Z");
  private static final Template TEMPLATE = new Template(new float[1], "model");

  private final RecordingService service = new RecordingService();
  private Server server;
  private VisageClient visage;
  private Galleries galleries;

  /** Keeps the requests. Deletions and exports fail with the errors one after the other, then succeed. */
  private static final class RecordingService extends GalleryServiceGrpc.GalleryServiceImplBase {
    final Queue<StatusRuntimeException> errors = new ConcurrentLinkedQueue<>();
    final List<Message> requests = new CopyOnWriteArrayList<>();

    private <T> void answer(Message request, StreamObserver<T> observer, T response) {
      requests.add(request);
      observer.onNext(response);
      observer.onCompleted();
    }

    @Override
    public void createGallery(CreateGalleryRequest request, StreamObserver<CreateGalleryResponse> observer) {
      answer(request, observer, CreateGalleryResponse.getDefaultInstance());
    }

    @Override
    public void updateGallery(UpdateGalleryRequest request, StreamObserver<UpdateGalleryResponse> observer) {
      answer(request, observer, UpdateGalleryResponse.getDefaultInstance());
    }

    @Override
    public void enrolFace(EnrolFaceRequest request, StreamObserver<EnrolFaceResponse> observer) {
      answer(request, observer, EnrolFaceResponse.getDefaultInstance());
    }

    @Override
    public void updatePerson(UpdatePersonRequest request, StreamObserver<UpdatePersonResponse> observer) {
      answer(request, observer, UpdatePersonResponse.getDefaultInstance());
    }

    @Override
    public void deletePerson(DeletePersonRequest request, StreamObserver<DeletePersonResponse> observer) {
      var error = errors.poll();
      if (error != null) observer.onError(error);
      else answer(request, observer, DeletePersonResponse.newBuilder().setPersonId(request.getPersonId()).build());
    }

    @Override
    public void exportPerson(ExportPersonRequest request, StreamObserver<ExportPersonResponse> observer) {
      observer.onNext(ExportPersonResponse.newBuilder().setGalleryId("one").build());
      var error = errors.poll();
      if (error != null) observer.onError(error);
      else answer(request, observer, ExportPersonResponse.newBuilder().setGalleryId("two").build());
    }
  }

  @BeforeEach
  void start() throws IOException {
    server = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create()).addService(service).build().start();
    visage = VisageClient.builder("http://localhost:" + server.getPort()).apiKey("key-of-tests").build();
    galleries = visage.galleries();
  }

  @AfterEach
  void stop() {
    visage.close();
    server.shutdownNow();
  }

  @Test
  void callsSayHowLongSomethingIsKept() {
    var face = FaceInput.of(Embedding.getDefaultInstance());
    var time = Expiration.at(END);
    galleries.create("staff", request -> request.setExpireTime(time));
    galleries.update("staff", request -> request.setTtl(Expiration.never()));
    galleries.enrolFace("staff", "ann", face, request -> request.setTtl(Expiration.after(Duration.ofMillis(90_500))));
    galleries.updatePerson("staff", "ann", request -> request.setExpireTime(time));
    galleries.updatePerson("staff", "ann", "Ann");
    var ttl = com.google.protobuf.Duration.newBuilder();
    List<Message> expected =
        List.of(
            CreateGalleryRequest.newBuilder().setGalleryId("staff").setExpireTime(time).build(),
            UpdateGalleryRequest.newBuilder().setGalleryId("staff").setTtl(ttl).build(),
            EnrolFaceRequest.newBuilder()
                .setGalleryId("staff")
                .setPersonId("ann")
                .setSource(face.toMessage())
                .setTtl(ttl.setSeconds(90).setNanos(500_000_000))
                .build(),
            UpdatePersonRequest.newBuilder().setGalleryId("staff").setPersonId("ann").setExpireTime(time).build(),
            UpdatePersonRequest.newBuilder().setGalleryId("staff").setPersonId("ann").setDisplayName("Ann").build());
    assertEquals(expected, service.requests);
    assertEquals(END, Instant.ofEpochSecond(time.getSeconds(), time.getNanos()));
  }

  @Test
  void importsSayHowLongAPersonIsKept() {
    var face = new GalleryFace("ann", TEMPLATE);
    var kept = face.toImportRequest("staff");
    assertEquals(ImportFacesRequest.ExpirationCase.EXPIRATION_NOT_SET, kept.getExpirationCase());
    assertEquals(Expiration.at(END), face.withTtl(Duration.ZERO).withExpireTime(END).toImportRequest("staff").getExpireTime());
    var never = face.withExpireTime(END).withTtl(Duration.ZERO).toImportRequest("staff");
    assertTrue(never.hasTtl());
    assertEquals(Expiration.never(), never.getTtl());
    assertThrows(
        IllegalArgumentException.class,
        () ->
            new GalleryFace(
                "ann", "", "", TEMPLATE, Optional.empty(), Optional.of(END), Optional.of(Duration.ZERO)));
  }

  @Test
  void exportedFacesHaveTheEndOfTheirPerson() {
    var message = ExportGalleryResponse.newBuilder().setPersonId("ann");
    assertEquals(Optional.empty(), GalleryFace.from(message.build()).expireTime());
    assertEquals(Optional.of(END), GalleryFace.from(message.setExpireTime(Expiration.at(END)).build()).expireTime());
  }

  @Test
  void deletesAPersonWithAReceiptUnlessItsResponseWasLost() {
    service.errors.add(DRAINING);
    assertEquals("ann", galleries.deletePerson("-", "ann").orElseThrow().getPersonId());
    assertEquals("-", ((DeletePersonRequest) service.requests.get(0)).getGalleryId());
    service.errors.addAll(List.of(NO_RESPONSE, NOT_FOUND));
    assertTrue(galleries.deletePerson("-", "ann").isEmpty());
    service.errors.add(NOT_FOUND);
    assertThrows(VisageException.class, () -> galleries.deletePerson("-", "ann"));
  }

  @Test
  void startsTheExportOfAPersonAgainAfterABreak() {
    service.errors.addAll(List.of(DRAINING, NO_RESPONSE));
    var exported = galleries.exportPerson("-", "ann");
    assertEquals(List.of("one", "two"), exported.stream().map(ExportPersonResponse::getGalleryId).toList());
    assertEquals("-", ((ExportPersonRequest) service.requests.get(0)).getGalleryId());
    service.errors.add(NOT_FOUND);
    var error = assertThrows(VisageException.class, () -> galleries.exportPerson("-", "ann"));
    assertEquals("PERSON_NOT_FOUND", error.reason());
  }
}
