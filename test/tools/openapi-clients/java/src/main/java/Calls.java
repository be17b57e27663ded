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
import org.openapitools.client.api.FaceAnalysisServiceApi;
import org.openapitools.client.api.FaceServiceApi;
import org.openapitools.client.auth.ApiKeyAuth;
import org.openapitools.client.model.CompareFacesRequest;
import org.openapitools.client.model.CompareFacesResult;
import org.openapitools.client.model.ErrorResponse;
import org.openapitools.client.model.Face;
import org.openapitools.client.model.GetFaceVecRequest;
import org.openapitools.client.model.GetFaceVecResult;
import org.openapitools.client.model.GetImageAttrRequest;
import org.openapitools.client.model.GetImageAttrResult;
import org.openapitools.client.model.MatchFacesRequest;
import org.openapitools.client.model.MatchFacesResult;
import org.openapitools.client.model.V1AnalyzeImageRequest;
import org.openapitools.client.model.V1AnalyzeImageResult;
import org.openapitools.client.model.V1CompareFacesRequest;
import org.openapitools.client.model.V1CompareFacesResult;
import org.openapitools.client.model.V1Embedding;
import org.openapitools.client.model.V1FaceMatch;
import org.openapitools.client.model.V1FaceSource;
import org.openapitools.client.model.V1Feature;
import org.openapitools.client.model.V1Image;
import org.openapitools.client.model.V1Status;

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
    Object typed = callTyped(new FaceAnalysisServiceApi(client), first, second);
    System.out.println(new Gson().toJson(Map.of("files", files, "text", text, "error", error, "typed", typed)));
  }

  private static Map<String, Object> callTyped(FaceAnalysisServiceApi api, File first, File second) throws Exception {
    V1Image image = new V1Image().content(Files.readAllBytes(first.toPath()));
    List<V1Feature> features = List.of(V1Feature.FEATURE_ATTRIBUTES, V1Feature.FEATURE_QUALITY);
    V1AnalyzeImageResult measured = api.v1AnalyzeImageWithFormData(first, features, null, 2);
    V1AnalyzeImageRequest request =
        new V1AnalyzeImageRequest().image(image).addFeaturesItem(V1Feature.FEATURE_EMBEDDING).maxFaces(1);
    V1Embedding embedding = api.v1AnalyzeImageWithJson(request, null, null, null).getFaces().get(0).getEmbedding();
    V1CompareFacesRequest pair =
        new V1CompareFacesRequest()
            .source(new V1FaceSource().embedding(embedding))
            .target(new V1FaceSource().image(image))
            .maxFalseMatchRate(0.001f);
    V1CompareFacesResult stored = api.v1CompareFacesWithJson(pair, null, null, null);
    V1CompareFacesResult files = api.v1CompareFacesWithFormData(first, second, null, null, null);
    Object error = null;
    try {
      api.v1AnalyzeImageWithFormData(first, null, List.of("1,2,3"), null);
    } catch (ApiException fault) {
      V1Status status = JSON.getGson().fromJson(fault.getResponseBody(), V1Status.class);
      error = List.of(fault.getCode(), status.getReason());
    }
    return Map.of(
        "faces",
            measured.getFaces().stream()
                .map(
                    face ->
                        List.of(
                            face.getAge().getRange().getValue(),
                            face.getGender().getValue().getValue(),
                            face.getQuality().getUsable()))
                .toList(),
        "facesFound", measured.getFacesFound(),
        "matched", stored.getMatches().stream().map(V1FaceMatch::getMatched).toList(),
        "pairs", files.getMatches().size(),
        "error", error);
  }

  private static Map<String, Object> summarize(
      MatchFacesResult match, CompareFacesResult compare, GetImageAttrResult attr, GetFaceVecResult vec) {
    Map<String, Object> faces = new TreeMap<>();
    for (Map.Entry<String, Object> entry : attr.getData().getAttributes().entrySet()) {
      if (!entry.getKey().startsWith("face_id_")) continue;
      Face face = JSON.getGson().fromJson(JSON.getGson().toJson(entry.getValue()), Face.class);
      int noseX = face.getLandmarks().getFaceLandMark().get("noseTip").getX();
      faces.put(entry.getKey(), List.of(face.getAge().getValue(), face.getFaceRectangle(), noseX));
    }
    return Map.of(
        "match", List.of(match.getData().getScore(), match.getData().getStatus().getValue()),
        "compare", compare.getData().getConfidence(),
        "faces", faces,
        "imageSize", attr.getData().getAttributes().get("image_size"),
        "vector", vec.getData().getVector().size(),
        "facesFound", vec.getData().getDetail().getImages().get(0).getFacesFound());
  }
}
