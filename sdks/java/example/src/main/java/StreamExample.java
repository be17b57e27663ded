import dev.visage.ImageInput;
import dev.visage.StreamImage;
import dev.visage.VisageClient;
import dev.visage.VisageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Analyses the photographs of a folder on one stream. Arguments: ADDRESS API_KEY FOLDER. */
public final class StreamExample {
  private StreamExample() {}

  public static void main(String[] args) throws IOException {
    try (var files = Files.list(Path.of(args[2]));
        var visage = VisageClient.builder(args[0]).apiKey(args[1]).build()) {
      var photos = files.filter(path -> path.toString().matches("(?i).*\\.(jpe?g|png)"));
      Iterable<StreamImage<Path>> images =
          () -> photos.map(path -> new StreamImage<>(path.getFileName(), ImageInput.ofFile(path))).iterator();
      try (var results = visage.analyzeImages(images)) {
        for (var result : results) {
          result
              .response()
              .ifPresent(response -> System.out.printf("%s: %d faces%n", result.key(), response.getFacesCount()));
          result.error().ifPresent(error -> System.err.println(result.key() + ": " + error.getMessage()));
        }
      }
    } catch (VisageException error) {
      System.err.println(error.reason() + " " + error.getMessage());
    }
  }
}
