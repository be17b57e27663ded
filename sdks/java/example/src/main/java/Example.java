import dev.visage.FaceInput;
import dev.visage.ImageInput;
import dev.visage.VisageClient;
import dev.visage.VisageException;
import java.nio.file.Path;

/** Checks whether a person is in a photograph. Arguments: ADDRESS API_KEY PERSON PHOTOGRAPH. */
public final class Example {
  private Example() {}

  public static void main(String[] args) {
    var person = FaceInput.of(ImageInput.ofFile(Path.of(args[2])));
    var photograph = FaceInput.of(ImageInput.ofFile(Path.of(args[3])));
    try (var visage = VisageClient.builder(args[0]).apiKey(args[1]).build()) {
      for (var face : visage.compareFaces(person, photograph).getMatchesList()) {
        System.out.printf("%s: %.4f%n", face.getMatched() ? "match" : "not a match", face.getDistance());
      }
    } catch (VisageException error) {
      System.err.println(error.reason() + " " + error.getMessage());
    }
  }
}
