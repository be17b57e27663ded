package dev.visage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.visage.v1.Gallery;
import dev.visage.v1.Person;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.function.Executable;

/** Tests galleries against a running service, as ServiceTest does. VISAGE_OTHER_API_KEY is the key of another user. */
@EnabledIfEnvironmentVariable(named = "VISAGE_ADDRESS", matches = ".+")
class GalleriesServiceTest {
  /** A grey square of 64 pixels. */
  private static final byte[] NO_FACE =
      Base64.getDecoder()
          .decode(
              "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAAAAACPAi4CAAAAKUlEQVR42u3MQREAAAwCIKMb3RD77SAA6VEEAoFAIBAIBAKBQCAQfA8"
                  + "G320AeXC6efoAAAAASUVORK5CYII=");

  private final String id = "java-" + UUID.randomUUID();
  private VisageClient visage;
  private Galleries galleries;
  private Gallery gallery;

  private static VisageClient connect(String keyVariable) {
    return VisageClient.builder(System.getenv("VISAGE_ADDRESS")).apiKey(System.getenv(keyVariable)).build();
  }

  private static ImageInput group() {
    return ImageInput.ofFile(Path.of(System.getenv("VISAGE_PHOTOS"), "sample3.jpg"));
  }

  private static void assertReason(String reason, Executable call) {
    assertEquals(reason, assertThrows(VisageException.class, call).reason());
  }

  private static <T> List<T> listOf(Iterable<T> items) {
    return StreamSupport.stream(items.spliterator(), false).toList();
  }

  /** Faces of strangers, two for each person. */
  private static Stream<GalleryFace> randomFaces(String model, int count) {
    var random = new Random(1);
    return IntStream.range(0, count)
        .mapToObj(
            number -> {
              double[] values = random.doubles(128, -1, 1).toArray();
              double norm = Math.sqrt(IntStream.range(0, 128).mapToDouble(i -> values[i] * values[i]).sum());
              float[] embedding = new float[128];
              for (int i = 0; i < 128; i++) embedding[i] = (float) (values[i] * 0.45 / norm);
              String person = String.format("person-%05d", number / 2);
              String face = String.format("face-%05d", number);
              return new GalleryFace(person, face, "Somebody", new Template(embedding, model), Optional.empty());
            });
  }

  @BeforeEach
  void createGallery() {
    visage = connect("VISAGE_API_KEY");
    galleries = visage.galleries();
    gallery = galleries.create(id);
  }

  @AfterEach
  void deleteGallery() {
    visage.close();
    try (var client = connect("VISAGE_API_KEY")) {
      client.galleries().delete(id);
    }
  }

  @Test
  void replacesAGallery() {
    String successor = id + "-next";
    String alias = id + "-alias";
    galleries.create(successor);
    assertEquals(alias, galleries.update(id, request -> request.setAlias(alias)).getAlias());
    assertReason(
        "GALLERY_CHANGED", () -> galleries.replace(id, successor, request -> request.setRevision(1000)));
    assertEquals(id, galleries.replace(id, successor, request -> {}).getGalleryId());
    assertEquals(id, galleries.get(alias).getGalleryId());
    assertReason("GALLERY_NOT_FOUND", () -> galleries.get(successor));
  }

  @Test
  void createsChangesAndDeletesAGallery() {
    String other = id + "-2";
    Gallery created = galleries.create(other, request -> request.setDisplayName("Staff").setMaxDistance(0.5f));
    assertEquals(List.of(other, "Staff"), List.of(created.getGalleryId(), created.getDisplayName()));
    assertReason("GALLERY_EXISTS", () -> galleries.create(other));
    assertTrue(listOf(galleries.list()).stream().map(Gallery::getGalleryId).toList().containsAll(List.of(id, other)));
    Gallery renamed = galleries.update(other, changes -> changes.setDisplayName("Guests"));
    assertEquals("Guests", renamed.getDisplayName());
    assertEquals(0.5f, renamed.getMaxDistance());
    assertFalse(galleries.update(other, changes -> changes.setMaxDistance(0)).hasMaxDistance());
    galleries.delete(other);
    assertReason("GALLERY_NOT_FOUND", () -> galleries.get(other));
  }

  @Test
  void enrolsIdentifiesAndDeletesAPerson() {
    var face = FaceInput.of(group());
    var enrolled =
        galleries.enrolFace(id, "ann", face, request -> request.setFaceId("first").setDisplayName("Ann"));
    assertEquals("first", enrolled.getFaceId());
    galleries.enrolFace(id, "ann", FaceInput.of(group(), enrolled.getBox()));
    assertEquals(2, galleries.getPerson(id, "ann").getFacesCount());

    var result = galleries.identify(id, face, request -> request.setMaxResults(3));
    assertEquals(
        List.of(1, 0, 0), result.getFacesList().stream().map(found -> found.getMatchesCount()).toList());
    assertEquals("Ann", result.getFaces(0).getMatches(0).getDisplayName());
    var embedding = FaceInput.of(visage.getFaceVec(group()));
    assertEquals("ann", galleries.identify(id, embedding).getFaces(0).getMatches(0).getPersonId());

    galleries.enrolFace(id, "ben", embedding);
    galleries.updatePerson(id, "ben", "Ben");
    galleries.deleteFace(id, "ann", "first");
    assertReason("FACE_NOT_FOUND", () -> galleries.deleteFace(id, "ann", "first"));
    assertEquals("ann", galleries.deletePerson(id, "ann").orElseThrow().getPersonId());
    assertEquals(
        List.of("Ben"), listOf(galleries.listPeople(id)).stream().map(Person::getDisplayName).toList());
  }

  @Test
  void deletesPeopleAndGalleriesAtTheirEnd() {
    var end = Instant.parse("2100-01-01T00:00:00Z");
    var face = FaceInput.of(randomFaces(gallery.getModel(), 1).toList().get(0).template());
    galleries.enrolFace(id, "ann", face, request -> request.setExpireTime(Expiration.at(end)));
    List<GalleryFace> exported;
    try (var export = galleries.export(id)) {
      exported = listOf(export);
    }
    assertEquals(Optional.of(end), exported.get(0).expireTime());
    var kept = galleries.updatePerson(id, "ann", request -> request.setTtl(Expiration.never()));
    assertFalse(kept.hasExpireTime());
    galleries.importFaces(id, exported);
    assertEquals(Expiration.at(end), galleries.getPerson(id, "ann").getExpireTime());
    var ending = galleries.update(id, request -> request.setTtl(Expiration.after(Duration.ofDays(30))));
    long seconds = ending.getExpireTime().getSeconds() - Instant.now().getEpochSecond();
    assertEquals(30, Math.round(seconds / 86_400.0));
    assertReason(
        "BAD_REQUEST", () -> galleries.update(id, request -> request.setExpireTime(Expiration.at(Instant.EPOCH))));
  }

  @Test
  void exportsAndDeletesAPersonInAllGalleries() {
    String other = id + "-other";
    String person = "person-of-" + id;
    galleries.create(other, request -> request.setDisplayName("Other"));
    var template = randomFaces(gallery.getModel(), 1).toList().get(0).template();
    for (String galleryId : List.of(id, other)) galleries.enrolFace(galleryId, person, FaceInput.of(template));
    var exported = galleries.exportPerson("-", person);
    assertEquals(List.of("", "Other"), exported.stream().map(part -> part.getGalleryDisplayName()).toList());
    assertEquals(template, Template.from(exported.get(0).getFaces(0).getEmbedding()));
    assertEquals(exported.subList(1, 2), galleries.exportPerson(other, person));
    var receipt = galleries.deletePerson("-", person).orElseThrow();
    assertEquals(List.of(1, 1), receipt.getDeletionsList().stream().map(deletion -> deletion.getFaceCount()).toList());
    assertTrue(receipt.getErasureFinished());
    assertFalse(receipt.getRequestId().isEmpty());
    assertReason("PERSON_NOT_FOUND", () -> galleries.exportPerson("-", person));
    galleries.delete(other);
  }

  @Test
  void reportsErrors() {
    var noFace = FaceInput.of(ImageInput.ofBytes(NO_FACE));
    assertReason("NO_FACE", () -> galleries.enrolFace(id, "ann", noFace));
    assertEquals(0, galleries.identify(id, noFace).getFacesCount());
    var url = FaceInput.of(ImageInput.ofUrl(URI.create("http://127.0.0.1/photo.jpg")));
    assertReason("URL_UNREACHABLE", () -> galleries.identify(id, url));
    var missing = FaceInput.of(ImageInput.ofFile(Path.of("no-such-file.jpg")));
    assertReason("UNREADABLE_IMAGE", () -> galleries.enrolFace(id, "ann", missing));
    assertReason("PERSON_NOT_FOUND", () -> galleries.getPerson(id, "nobody"));
    assertReason("PERSON_NOT_FOUND", () -> galleries.deletePerson(id, "nobody"));
    var foreign = randomFaces("another", 1).toList();
    assertReason("MODEL_MISMATCH", () -> galleries.importFaces(id, foreign));
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "VISAGE_OTHER_API_KEY", matches = ".+")
  void hidesAGalleryFromOtherUsers() {
    try (var client = connect("VISAGE_OTHER_API_KEY");
        var export = client.galleries().export(id)) {
      assertReason("GALLERY_NOT_FOUND", () -> client.galleries().get(id));
      assertReason("GALLERY_NOT_FOUND", () -> client.galleries().delete(id));
      assertReason("GALLERY_NOT_FOUND", () -> listOf(client.galleries().listPeople(id)));
      assertReason("GALLERY_NOT_FOUND", () -> listOf(export));
    }
  }

  @Test
  void importsAnExport() {
    // More than a page of people, and more than an import sends in one call.
    var faces = randomFaces(gallery.getModel(), 5100).toList();
    assertEquals(5100, galleries.importFaces(id, faces).getFaceCount());
    var people = listOf(galleries.listPeople(id));
    assertEquals(2550, people.size());
    assertEquals("person-02549", people.get(2549).getPersonId());
    try (var export = galleries.export(id)) {
      var exported = listOf(export);
      assertEquals(
          faces.stream().map(GalleryFace::faceId).toList(), exported.stream().map(GalleryFace::faceId).toList());
      assertEquals(faces.get(7).template(), exported.get(7).template());
      assertTrue(exported.get(7).createTime().isPresent());
    }
    // Again, from a stream to a stream.
    try (var export = galleries.export(id)) {
      assertEquals(5100, galleries.importFaces(id, export).getFaceCount());
    }
  }

  @Test
  void endsAnExport() {
    galleries.importFaces(id, randomFaces(gallery.getModel(), 1200).toList());
    List<String> taken = new ArrayList<>();
    try (var export = galleries.export(id)) {
      for (GalleryFace face : export) {
        taken.add(face.faceId());
        if (taken.size() == 10) break;
      }
    }
    assertEquals("face-00009", taken.get(9));
    try (var export = galleries.export(id)) {
      assertReason("CANCELLED", () -> export.forEach(face -> visage.close()));
    }
  }

  @Test
  void importStopsAtAnException() {
    Iterable<GalleryFace> failing =
        () ->
            randomFaces(gallery.getModel(), 20)
                .peek(
                    face -> {
                      if (face.faceId().equals("face-00010")) throw new IllegalStateException("The disk is gone.");
                    })
                .iterator();
    assertThrows(IllegalStateException.class, () -> galleries.importFaces(id, failing));
    // No call was sent, as the first one was not complete.
    assertEquals(0, galleries.get(id).getFaceCount());
    assertEquals(0, galleries.importFaces(id, List.of()).getFaceCount());
    assertReason("GALLERY_NOT_FOUND", () -> galleries.importFaces("missing", List.of()));
  }
}
