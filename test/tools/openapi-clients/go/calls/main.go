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
	client := visage.NewAPIClient(config)
	api := client.FaceServiceAPI
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
	typed := callTyped(ctx, client.FaceAnalysisServiceAPI, photo1, photo2)
	output, _ := json.Marshal(map[string]any{"files": files, "text": text, "error": failure, "typed": typed})
	fmt.Println(string(output))
}

func callTyped(ctx context.Context, api *visage.FaceAnalysisServiceAPIService, photo1, photo2 string) map[string]any {
	content := encode(photo1)
	image := visage.V1Image{Content: &content}
	features := []visage.V1Feature{visage.FEATURE_ATTRIBUTES, visage.FEATURE_QUALITY}
	measured := must(api.V1AnalyzeImageWithFormData(ctx).Image(open(photo1)).Features(features).MaxFaces(2).Execute())
	request := *visage.NewV1AnalyzeImageRequest(image)
	request.SetFeatures([]visage.V1Feature{visage.FEATURE_EMBEDDING})
	request.SetMaxFaces(1)
	embedded := must(api.V1AnalyzeImageWithJson(ctx).V1AnalyzeImageRequest(request).Execute())
	source := visage.V1FaceSource{Embedding: embedded.Faces[0].Embedding}
	pair := *visage.NewV1CompareFacesRequest(source, visage.V1FaceSource{Image: &image})
	pair.SetMaxFalseMatchRate(0.001)
	stored := must(api.V1CompareFacesWithJson(ctx).V1CompareFacesRequest(pair).Execute())
	files := must(api.V1CompareFacesWithFormData(ctx).Source(open(photo1)).Target(open(photo2)).Execute())
	_, response, err := api.V1AnalyzeImageWithFormData(ctx).Image(open(photo1)).Boxes([]string{"1,2,3"}).Execute()
	var fault *visage.GenericOpenAPIError
	if !errors.As(err, &fault) {
		panic(err)
	}
	faces, matched := []any{}, []any{}
	for _, face := range measured.Faces {
		faces = append(faces, []any{face.Age.Range, face.Gender.Value, face.Quality.Usable})
	}
	for _, match := range stored.Matches {
		matched = append(matched, match.Matched)
	}
	return map[string]any{
		"faces":      faces,
		"facesFound": measured.FacesFound,
		"matched":    matched,
		"pairs":      len(files.Matches),
		"error":      []any{response.StatusCode, fault.Model().(visage.V1Status).Reason},
	}
}

func summarize(
	match *visage.MatchFacesResult,
	compare *visage.CompareFacesResult,
	attr *visage.GetImageAttrResult,
	vec *visage.GetFaceVecResult,
) map[string]any {
	faces := map[string]any{}
	for name, value := range attr.Data.Attributes {
		if strings.HasPrefix(name, "face_id_") {
			var face visage.Face
			text, err := json.Marshal(value)
			if err := errors.Join(err, json.Unmarshal(text, &face)); err != nil {
				panic(err)
			}
			faces[name] = []any{face.Age, face.FaceRectangle, face.Landmarks.FaceLandMark["noseTip"].X}
		}
	}
	return map[string]any{
		"match":      []any{match.Data.Score, match.Data.Status},
		"compare":    compare.Data.Confidence,
		"faces":      faces,
		"imageSize":  attr.Data.Attributes["image_size"],
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
