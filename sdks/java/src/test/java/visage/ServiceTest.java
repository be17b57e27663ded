package visage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
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
    assertTrue(match.isMatch());
    assertTrue(match.distance() < 0.1);
  }

  @Test
  @SuppressWarnings("deprecation")
  void comparesTwoPhotographs() {
    assertTrue(visage.compareFaces(photo(3), photo(3)) > 0.6);
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
    assertEquals(128, template.vector().length);
    assertFalse(template.model().isEmpty());
    assertEquals(template, visage.getFaceVec(photo(3)));
    assertTrue(template.distanceTo(visage.getFaceVec(photo(1))) > 0.5);
  }

  @Test
  void reportsTheReasonAndTheImage() {
    var error = assertThrows(VisageException.class, () -> visage.matchFaces(photo(3), NO_IMAGE));
    assertEquals("UNSUPPORTED_FORMAT", error.reason());
    assertEquals(Optional.of("2004"), error.code());
    assertEquals(Optional.of("img_2"), error.image());
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
