package dev.visage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.visage.v1.Face;
import dev.visage.v1.FaceMatch;
import dev.visage.v1.Feature;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** Tests the client against a running service, given by VISAGE_ADDRESS, VISAGE_API_KEY and VISAGE_PHOTOS. */
@EnabledIfEnvironmentVariable(named = "VISAGE_ADDRESS", matches = ".+")
class ServiceTest {
  private static final ImageInput NO_IMAGE = ImageInput.ofBytes(new byte[144_000]);
  private static VisageClient visage;

  private static VisageClientBuilder builder() {
    return VisageClient.builder(System.getenv("VISAGE_ADDRESS")).apiKey(System.getenv("VISAGE_API_KEY"));
  }

  private static ImageInput photo(int number) {
    return ImageInput.ofFile(Path.of(System.getenv("VISAGE_PHOTOS"), "sample" + number + ".jpg"));
  }

  @BeforeAll
  static void connect() {
    visage = builder().build();
  }

  @AfterAll
  static void disconnect() {
    visage.close();
  }

  @Test
  void matchesTwoPhotographs() {
    Match match = visage.matchFaces(photo(3), photo(3));
    assertTrue(match.matched());
    assertTrue(match.distance() < 0.1);
  }

  @Test
  void comparesImagesAndEmbeddings() {
    var group = FaceInput.of(photo(3));
    var matches = visage.compareFaces(group, group).getMatchesList();
    assertEquals(List.of(true, false, false), matches.stream().map(FaceMatch::getMatched).toList());

    Template template = visage.getFaceVec(photo(3));
    var target = FaceInput.of(photo(3), matches.get(0).getBox());
    var one = visage.compareFaces(FaceInput.of(template), target, request -> request.setMaxFalseMatchRate(0.001f));
    assertEquals(1, one.getMatchesCount());
    assertTrue(one.getMatches(0).getMatched());

    var foreign = FaceInput.of(new Template(template.embedding(), "another"));
    var error = assertThrows(VisageException.class, () -> visage.compareFaces(foreign, group));
    assertEquals("MODEL_MISMATCH", error.reason());
  }

  @Test
  void analysesAnImage() {
    var analysis = visage.analyzeImage(photo(1));
    assertEquals(1920, analysis.getImageSize().getWidth());
    assertEquals(List.of(68, 68, 68), analysis.getFacesList().stream().map(Face::getLandmarksCount).toList());
    Face last = analysis.getFaces(2);
    assertTrue(last.getQuality().getUsable());
    var selected =
        visage.analyzeImage(
            photo(1), request -> request.addBoxes(last.getBox()).addFeatures(Feature.FEATURE_EMBEDDING));
    assertEquals(1, selected.getFacesCount());
    assertEquals(128, selected.getFaces(0).getEmbedding().getValuesCount());
  }

  @Test
  void analysesManyImagesOnAStream() {
    var images =
        List.of(
            new StreamImage<>("one", photo(1)),
            new StreamImage<>("broken", NO_IMAGE),
            new StreamImage<>("missing", ImageInput.ofFile(Path.of("no-such-file.jpg"))),
            new StreamImage<>("three", photo(3)));
    Map<String, String> outcomes = new HashMap<>();
    try (var results = visage.analyzeImages(images, request -> request.setMaxFaces(1))) {
      for (var result : results) {
        String faces = result.response().map(response -> "" + response.getFacesCount()).orElse("");
        outcomes.put(result.key(), result.error().map(VisageException::reason).orElse(faces));
      }
    }
    assertEquals(
        Map.of("one", "1", "three", "1", "broken", "UNSUPPORTED_FORMAT", "missing", "UNREADABLE_IMAGE"), outcomes);
  }

  @Test
  void readsImagesOfAStreamAsFastAsTheirResultsAreTaken() throws InterruptedException {
    int maxInFlight = 8;
    var read = new AtomicInteger();
    Iterable<StreamImage<Integer>> images =
        () -> Stream.generate(() -> new StreamImage<>(read.incrementAndGet(), NO_IMAGE)).iterator();
    try (var client = builder().maxInFlight(maxInFlight).build();
        var results = client.analyzeImages(images)) {
      int taken = 0;
      for (var result : results) {
        assertEquals("UNSUPPORTED_FORMAT", result.error().orElseThrow().reason());
        if (++taken == 10) Thread.sleep(500);
        assertTrue(read.get() - taken <= maxInFlight + 2, read + " images after " + taken + " results");
        if (taken == 300) break;
      }
    }
  }

  @Test
  void endsAStream() {
    Iterable<StreamImage<Integer>> forever =
        () -> Stream.generate(() -> new StreamImage<>(0, photo(3))).iterator();
    var client = builder().build();
    var results = client.analyzeImages(forever).iterator();
    results.next();
    client.close();
    var closed = assertThrows(VisageException.class, () -> results.forEachRemaining(result -> {}));
    assertEquals("CANCELLED", closed.reason());

    try (var unknown = builder().apiKey("nobody").build();
        var rejected = unknown.analyzeImages(forever)) {
      var error = assertThrows(VisageException.class, () -> rejected.iterator().next());
      assertEquals("UNKNOWN_USER", error.reason());
    }
  }

  @Test
  void readsEveryFaceAndSelectsOneByItsBox() {
    ImageAttributes attributes = visage.getImageAttr(photo(1));
    assertEquals(List.of(1920, 1280), List.of(attributes.width(), attributes.height()));
    assertEquals(3, attributes.faces().size());
    FaceAttributes second = attributes.faces().get(1);
    assertEquals(68, second.landmarks().size());

    var selected = visage.getImageAttr(photo(1), request -> request.addBboxes(second.box())).faces();
    assertEquals(1, selected.size());
    assertEquals(second.gender(), selected.get(0).gender());
  }

  @Test
  void turnsAFaceIntoATemplate() {
    Template template = visage.getFaceVec(photo(3), request -> request.setQuality(true));
    assertEquals(128, template.embedding().length);
    assertFalse(template.model().isEmpty());
    assertEquals(template, visage.getFaceVec(photo(3)));
    assertTrue(template.distanceTo(visage.getFaceVec(photo(1))) > 0.5);
  }

  @Test
  void reportsTheReasonAndTheField() {
    var error = assertThrows(VisageException.class, () -> visage.matchFaces(photo(3), NO_IMAGE));
    assertEquals("UNSUPPORTED_FORMAT", error.reason());
    assertEquals(Optional.of("2004"), error.code());
    assertEquals(Optional.of("img_2"), error.field());
    assertFalse(error.retryable());
  }

  @Test
  void doesNotRetryAnImageUrlThatTheServiceRejects() {
    var loopback = ImageInput.ofUrl(URI.create("http://127.0.0.1/photo.jpg"));
    var error = assertThrows(VisageException.class, () -> visage.getFaceVec(loopback));
    assertEquals("URL_UNREACHABLE", error.reason());
    assertFalse(error.retryable());
  }

  @Test
  void reportsAnUnknownKey() {
    try (var unknown = builder().apiKey("nobody").build()) {
      var error = assertThrows(VisageException.class, () -> unknown.getFaceVec(photo(3)));
      assertEquals("UNKNOWN_USER", error.reason());
    }
  }

  @Test
  void endsAtTheDeadline() {
    try (var hurried = builder().timeout(Duration.ofMillis(1)).build()) {
      var error = assertThrows(VisageException.class, () -> hurried.getFaceVec(photo(3)));
      assertEquals("DEADLINE_PASSED", error.reason());
    }
  }

  @Test
  void makesManyCallsAtTheSameTime() throws Exception {
    // Images that the service rejects at once: the test is about the connection.
    Callable<String> call =
        () -> assertThrows(VisageException.class, () -> visage.getFaceVec(NO_IMAGE)).reason();
    var executor = Executors.newFixedThreadPool(300);
    try {
      for (var result : executor.invokeAll(IntStream.range(0, 300).mapToObj(i -> call).toList())) {
        assertEquals("UNSUPPORTED_FORMAT", result.get());
      }
    } finally {
      executor.shutdown();
    }
  }
}
