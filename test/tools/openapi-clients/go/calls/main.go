// Calls every operation with files and with Base64, by the client that openapi-generator makes for Go. Prints what
// openapi-generators.system.test.ts expects.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	visage "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func main() {
	config := visage.NewConfiguration()
	config.Servers = visage.ServerConfigurations{{URL: os.Getenv("VISAGE_URL")}}
	api := visage.NewAPIClient(config).FaceServiceAPI
	keys := map[string]visage.APIKey{"user_id": {Key: os.Getenv("VISAGE_USER_ID")}}
	ctx := context.WithValue(context.Background(), visage.ContextAPIKeys, keys)
	photo1, photo2 := os.Getenv("VISAGE_PHOTO_1"), os.Getenv("VISAGE_PHOTO_2")
	boxes := strings.Split(os.Getenv("VISAGE_BOXES"), " ")

	files := summarize(
		must(api.MatchFacesWithFormData(ctx).Img1(open(photo1)).Img2(open(photo2)).Execute()),
		must(api.CompareFacesWithFormData(ctx).Img1(open(photo1)).Img2(open(photo2)).Execute()),
		must(api.GetImageAttrWithFormData(ctx).ImageAttr(open(photo1)).Execute()),
		must(api.GetFaceVecWithFormData(ctx).Img(open(photo1)).Detail(true).Execute()),
	)
	text1, text2 := encode(photo1), encode(photo2)
	match := *visage.NewMatchFacesRequest(text1, text2)
	compare := *visage.NewCompareFacesRequest(text1, text2)
	attr := *visage.NewGetImageAttrRequest(text1)
	vec := *visage.NewGetFaceVecRequest(text1)
	text := summarize(
		must(api.MatchFacesWithJson(ctx).MatchFacesRequest(match).Bboxes1(boxes[0]).Execute()),
		must(api.CompareFacesWithJson(ctx).CompareFacesRequest(compare).Bboxes1(boxes[0]).Execute()),
		must(api.GetImageAttrWithJson(ctx).GetImageAttrRequest(attr).Bboxes(boxes).FaceDet(true).Execute()),
		must(api.GetFaceVecWithJson(ctx).GetFaceVecRequest(vec).Bboxes(boxes[0]).Quality(true).Detail(true).Execute()),
	)
	_, response, err := api.GetFaceVecWithFormData(ctx).Img(open(photo1)).Bboxes("1,2,3").Execute()
	var fault *visage.GenericOpenAPIError
	if !errors.As(err, &fault) {
		panic(err)
	}
	body := fault.Model().(visage.ErrorResponse)
	failure := []any{response.StatusCode, body.Code, body.Data.Reason}
	output, _ := json.Marshal(map[string]any{"files": files, "text": text, "error": failure})
	fmt.Println(string(output))
}

func summarize(
	match *visage.MatchFacesResponse,
	compare *visage.CompareFacesResponse,
	attr *visage.GetImageAttrResponse,
	vec *visage.GetFaceVecResponse,
) map[string]any {
	faces := map[string]any{}
	for name, value := range attr.Data.Attributes {
		if face := value.Face; face != nil {
			faces[name] = []any{face.Age, face.FaceRectangle, face.Landmarks.FaceLandMark["noseTip"].X}
		}
	}
	return map[string]any{
		"match":      []any{match.Data.Score, match.Data.Status},
		"compare":    compare.Data.Confidence,
		"faces":      faces,
		"imageSize":  *attr.Data.Attributes["image_size"].ArrayOfInt32,
		"vector":     len(vec.Data.Vector),
		"facesFound": vec.Data.Detail.Images[0].FacesFound,
	}
}

func must[T any](response *T, _ any, err error) *T {
	if err != nil {
		panic(err)
	}
	return response
}

func open(path string) *os.File {
	file, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	return file
}

func encode(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(content)
}
