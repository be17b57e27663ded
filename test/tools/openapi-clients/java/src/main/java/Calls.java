// Calls every operation with files and with Base64, by the client that openapi-generator makes for Java. Prints what
// openapi-generators.system.test.ts expects.

import com.google.gson.Gson;
import java.io.File;
import java.nio.file.Files;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.JSON;
import org.openapitools.client.api.FaceServiceApi;
import org.openapitools.client.auth.ApiKeyAuth;
import org.openapitools.client.model.AttributesValue;
import org.openapitools.client.model.CompareFacesRequest;
import org.openapitools.client.model.CompareFacesResponse;
import org.openapitools.client.model.ErrorResponse;
import org.openapitools.client.model.Face;
import org.openapitools.client.model.GetFaceVecRequest;
import org.openapitools.client.model.GetFaceVecResponse;
import org.openapitools.client.model.GetImageAttrRequest;
import org.openapitools.client.model.GetImageAttrResponse;
import org.openapitools.client.model.MatchFacesRequest;
import org.openapitools.client.model.MatchFacesResponse;

class Calls {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient().setBasePath(System.getenv("VISAGE_URL")).setReadTimeout(60_000);
    ((ApiKeyAuth) client.getAuthentication("user_id")).setApiKey(System.getenv("VISAGE_USER_ID"));
    FaceServiceApi api = new FaceServiceApi(client);
    File first = new File(System.getenv("VISAGE_PHOTO_1"));
    File second = new File(System.getenv("VISAGE_PHOTO_2"));
    String text1 = Base64.getEncoder().encodeToString(Files.readAllBytes(first.toPath()));
    String text2 = Base64.getEncoder().encodeToString(Files.readAllBytes(second.toPath()));
    List<String> boxes = List.of(System.getenv("VISAGE_BOXES").split(" "));
    String box = boxes.get(0);

    Object files =
        summarize(
            api.matchFacesWithFormData(first, second, null, null, null, null),
            api.compareFacesWithFormData(first, second, null, null, null, null),
            api.getImageAttrWithFormData(first, null, null, null),
            api.getFaceVecWithFormData(first, null, null, null, true));
    Object text =
        summarize(
            api.matchFacesWithJson(new MatchFacesRequest().img1(text1).img2(text2), box, null, null, null),
            api.compareFacesWithJson(new CompareFacesRequest().img1(text1).img2(text2), box, null, null, null),
            api.getImageAttrWithJson(new GetImageAttrRequest().imageAttr(text1), boxes, true, null),
            api.getFaceVecWithJson(new GetFaceVecRequest().img(text1), box, true, null, true));
    Object error = null;
    try {
      api.getFaceVecWithFormData(first, "1,2,3", null, null, null);
    } catch (ApiException fault) {
      ErrorResponse response = JSON.getGson().fromJson(fault.getResponseBody(), ErrorResponse.class);
      error = List.of(fault.getCode(), response.getCode(), response.getData().getReason());
    }
    System.out.println(new Gson().toJson(Map.of("files", files, "text", text, "error", error)));
  }

  private static Map<String, Object> summarize(
      MatchFacesResponse match, CompareFacesResponse compare, GetImageAttrResponse attr, GetFaceVecResponse vec) {
    Map<String, Object> faces = new TreeMap<>();
    for (Map.Entry<String, AttributesValue> entry : attr.getData().getAttributes().entrySet()) {
      if (!(entry.getValue().getActualInstance() instanceof Face)) continue;
      Face face = entry.getValue().getFace();
      int noseX = face.getLandmarks().getFaceLandMark().get("noseTip").getX();
      faces.put(entry.getKey(), List.of(face.getAge().getValue(), face.getFaceRectangle(), noseX));
    }
    return Map.of(
        "match", List.of(match.getData().getScore(), match.getData().getStatus().getValue()),
        "compare", compare.getData().getConfidence(),
        "faces", faces,
        "imageSize", attr.getData().getAttributes().get("image_size").getListInteger(),
        "vector", vec.getData().getVector().size(),
        "facesFound", vec.getData().getDetail().getImages().get(0).getFacesFound());
  }
}
