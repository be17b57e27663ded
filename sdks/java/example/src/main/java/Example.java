import dev.visage.ImageInput;
import dev.visage.VisageClient;
import dev.visage.VisageException;
import java.nio.file.Path;

/** Checks whether two photographs show the same person. Arguments: ADDRESS API_KEY ONE TWO. */
public final class Example {
  private Example() {}

  public static void main(String[] args) {
    var one = ImageInput.ofFile(Path.of(args[2]));
    var two = ImageInput.ofFile(Path.of(args[3]));
    try (var visage = VisageClient.builder(args[0]).apiKey(args[1]).build()) {
      var match = visage.matchFaces(one, two);
      System.out.printf("%s: %.4f%n", match.isMatch() ? "match" : "not a match", match.distance());
    } catch (VisageException error) {
      System.err.println(error.reason() + " " + error.getMessage());
    }
  }
}
