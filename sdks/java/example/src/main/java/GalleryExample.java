import dev.visage.FaceInput;
import dev.visage.ImageInput;
import dev.visage.VisageClient;
import dev.visage.VisageException;
import java.nio.file.Path;

/** Enrols a person and looks for it on another photograph. Arguments: ADDRESS API_KEY GALLERY ONE TWO. */
public final class GalleryExample {
  private GalleryExample() {}

  public static void main(String[] args) {
    var one = FaceInput.of(ImageInput.ofFile(Path.of(args[3])));
    var two = FaceInput.of(ImageInput.ofFile(Path.of(args[4])));
    String gallery = args[2];
    try (var visage = VisageClient.builder(args[0]).apiKey(args[1]).build()) {
      var galleries = visage.galleries();
      galleries.create(gallery);
      galleries.enrolFace(gallery, "17", one, request -> request.setDisplayName("Ann"));
      int number = 0;
      for (var face : galleries.identify(gallery, two).getFacesList()) {
        String name = face.getMatchesCount() == 0 ? "unknown" : face.getMatches(0).getDisplayName();
        System.out.printf("face %d: %s%n", ++number, name);
      }
      int saved = 0;
      try (var faces = galleries.export(gallery)) {
        for (var face : faces) saved += face.template().embedding().length > 0 ? 1 : 0;
      }
      System.out.println(saved + " faces saved");
      galleries.delete(gallery);
    } catch (VisageException error) {
      System.err.println(error.reason() + " " + error.getMessage());
    }
  }
}
