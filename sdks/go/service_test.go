package visage_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	visage "github.com/visage-face/visage/sdks/go"
	facev1 "github.com/visage-face/visage/sdks/go/face/v1"
	"github.com/visage-face/visage/sdks/go/face/v1/facev1connect"
	visagev1 "github.com/visage-face/visage/sdks/go/visage/v1"
)

// openService creates a client of the running service at VISAGE_ADDRESS, which accepts VISAGE_API_KEY. The tests use the
// photographs in VISAGE_PHOTOS.
func openService(t *testing.T, options visage.Options) *visage.Client {
	t.Helper()
	address := os.Getenv("VISAGE_ADDRESS")
	if address == "" {
		t.Skip("VISAGE_ADDRESS is not set")
	}
	if options.APIKey == "" {
		options.APIKey = os.Getenv("VISAGE_API_KEY")
	}
	client, err := visage.NewClient(address, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func photo(name string) visage.Image {
	return visage.File(filepath.Join(os.Getenv("VISAGE_PHOTOS"), name))
}

func TestServiceMatchesTwoPhotographs(t *testing.T) {
	client := openService(t, visage.Options{})
	match, err := client.MatchFaces(context.Background(), photo("sample3.jpg"), photo("sample3.jpg"), nil)
	if err != nil || match.Distance != 0 || !match.Matched {
		t.Fatal(match, err)
	}
}

func TestServiceComparesImagesAndEmbeddings(t *testing.T) {
	client := openService(t, visage.Options{})
	ctx := context.Background()
	group := visage.Face{Image: photo("sample3.jpg")}
	comparison, err := client.CompareFaces(ctx, group, group, nil)
	if err != nil || len(comparison.GetMatches()) != 3 || !comparison.GetMatches()[0].GetMatched() {
		t.Fatal(comparison, err)
	}
	template, err := client.GetFaceVec(ctx, photo("sample3.jpg"), nil)
	if err != nil {
		t.Fatal(err)
	}
	face := visage.Face{Embedding: template.Message()}
	target := visage.Face{Image: photo("sample3.jpg"), Box: comparison.GetMatches()[0].GetBox()}
	one, err := client.CompareFaces(ctx, face, target, &visage.CompareOptions{MaxFalseMatchRate: 0.001})
	if err != nil || len(one.GetMatches()) != 1 || !one.GetMatches()[0].GetMatched() {
		t.Fatal(one, err)
	}
	adult, err := client.CompareFaces(ctx, face, face, &visage.CompareOptions{AssumeAdults: true})
	if err != nil || adult.GetMatches()[0].GetPopulation() != visagev1.Population_POPULATION_ADULTS {
		t.Fatal(adult, err)
	}
	template.Model = "another"
	_, err = client.CompareFaces(ctx, visage.Face{Embedding: template.Message()}, group, nil)
	var failure *visage.Error
	if !errors.As(err, &failure) || failure.Reason != "MODEL_MISMATCH" {
		t.Fatal(err)
	}
	if _, err := client.CompareFaces(ctx, visage.Face{}, group, nil); err == nil {
		t.Fatal("a face without an image was accepted")
	}
}

func TestServiceAnalysesAnImage(t *testing.T) {
	client := openService(t, visage.Options{})
	ctx := context.Background()
	analysis, err := client.AnalyzeImage(ctx, photo("sample1.jpg"), nil)
	if err != nil || len(analysis.GetFaces()) != 3 || analysis.GetImageSize().GetWidth() != 1920 {
		t.Fatal(analysis, err)
	}
	last := analysis.GetFaces()[2]
	if len(last.GetLandmarks()) != 68 || last.GetAge() == nil || !last.GetQuality().GetUsable() {
		t.Fatal(last)
	}
	options := &visage.AnalyzeOptions{
		Features: []visagev1.Feature{visagev1.Feature_FEATURE_EMBEDDING},
		Boxes:    []*visagev1.BoundingBox{last.GetBox()},
	}
	selected, err := client.AnalyzeImage(ctx, photo("sample1.jpg"), options)
	if err != nil || len(selected.GetFaces()[0].GetEmbedding().GetValues()) != 128 {
		t.Fatal(selected, err)
	}
}

func TestServiceAnalysesManyImagesOnAStream(t *testing.T) {
	client := openService(t, visage.Options{})
	images := []visage.StreamImage{
		{Key: "broken", Image: visage.Bytes([]byte("no image"))},
		{Key: "missing", Image: visage.File("no-such-file.jpg")},
	}
	for _, name := range []string{"sample1.jpg", "sample2.jpg", "sample3.jpg", "sample4.jpg"} {
		images = append(images, visage.StreamImage{Key: name, Image: photo(name)})
	}
	outcomes := map[string]string{}
	for result, err := range client.AnalyzeImages(
		context.Background(), slices.Values(images), &visage.AnalyzeOptions{MaxFaces: 1},
	) {
		switch {
		case err != nil:
			t.Fatal(err)
		case result.Failure != nil:
			outcomes[result.Key] = result.Failure.Reason
		default:
			outcomes[result.Key] = strconv.Itoa(len(result.Response.GetFaces()))
		}
	}
	expected := map[string]string{
		"broken": "UNSUPPORTED_FORMAT", "missing": "UNREADABLE_IMAGE",
		"sample1.jpg": "1", "sample2.jpg": "1", "sample3.jpg": "1", "sample4.jpg": "1",
	}
	if !maps.Equal(outcomes, expected) {
		t.Fatal(outcomes)
	}
}

func TestServiceTakesImagesAsFastAsTheirResultsAreTaken(t *testing.T) {
	const maxInFlight = 8
	client := openService(t, visage.Options{MaxInFlight: maxInFlight})
	var taken, mostAhead atomic.Int64
	images := func(yield func(visage.StreamImage) bool) {
		for read := int64(0); yield(visage.StreamImage{Image: visage.Bytes([]byte("no image"))}); read++ {
			mostAhead.Store(max(mostAhead.Load(), read-taken.Load()))
		}
	}
	for result, err := range client.AnalyzeImages(context.Background(), images, nil) {
		if err != nil || result.Failure == nil {
			t.Fatal(result, err)
		}
		if taken.Add(1) == 10 {
			time.Sleep(500 * time.Millisecond)
		}
		if taken.Load() == 300 {
			break
		}
	}
	if mostAhead.Load() > maxInFlight+2 {
		t.Fatal(mostAhead.Load())
	}
}

func TestServiceEndsAStream(t *testing.T) {
	forever := func(yield func(visage.StreamImage) bool) {
		for yield(visage.StreamImage{Image: photo("sample3.jpg")}) {
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	closing := openService(t, visage.Options{})
	for name, test := range map[string]struct {
		client   *visage.Client
		onResult func()
		reason   string
	}{
		"unknown key": {openService(t, visage.Options{APIKey: "nobody"}), func() {}, "UNKNOWN_USER"},
		"cancelled":   {openService(t, visage.Options{}), cancel, "CANCELLED"},
		"closed":      {closing, func() { _ = closing.Close() }, "CANCELLED"},
	} {
		t.Run(name, func(t *testing.T) {
			given := context.Background()
			if name == "cancelled" {
				given = ctx
			}
			var last error
			for _, err := range test.client.AnalyzeImages(given, forever, nil) {
				last = err
				test.onResult()
			}
			var failure *visage.Error
			if !errors.As(last, &failure) || failure.Reason != test.reason {
				t.Fatal(last)
			}
		})
	}
}

func TestServiceReturnsEveryFace(t *testing.T) {
	client := openService(t, visage.Options{})
	all, err := client.GetImageAttr(context.Background(), photo("sample1.jpg"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if all.Height != 1280 || all.Width != 1920 || len(all.Faces) != 3 || len(all.Faces[2].Landmarks) != 68 {
		t.Fatalf("%+v", all)
	}
	last := all.Faces[2]
	options := &visage.AttrOptions{Boxes: []visage.Box{last.Box}}
	selected, err := client.GetImageAttr(context.Background(), photo("sample1.jpg"), options)
	if err != nil || len(selected.Faces) != 1 || selected.Faces[0].Age != last.Age {
		t.Fatal(selected, err)
	}
}

func TestServiceReturnsTheTemplateOfAFace(t *testing.T) {
	client := openService(t, visage.Options{})
	options := &visage.VecOptions{Quality: true}
	template, err := client.GetFaceVec(context.Background(), photo("sample1.jpg"), options)
	if err != nil || len(template.Embedding) != 128 || template.Model == "" {
		t.Fatal(template, err)
	}
}

func TestServiceReportsErrors(t *testing.T) {
	client := openService(t, visage.Options{})
	for code, image := range map[string]visage.Image{
		"2004": visage.Bytes([]byte("no image")),
		"2006": visage.URL("http://127.0.0.1/photo.jpg"),
	} {
		_, err := client.MatchFaces(context.Background(), photo("sample3.jpg"), image, nil)
		var failure *visage.Error
		if !errors.As(err, &failure) || failure.Code != code || failure.Field != "img_2" || failure.Retryable {
			t.Errorf("%s: %+v", code, err)
		}
	}
	_, err := openService(t, visage.Options{APIKey: "nobody"}).GetFaceVec(context.Background(), photo("sample3.jpg"), nil)
	var failure *visage.Error
	if !errors.As(err, &failure) || failure.Reason != "UNKNOWN_USER" {
		t.Error(err)
	}
}

func TestServiceAnswers300CallsAtOnce(t *testing.T) {
	// The machine of the test may be slow.
	client := openService(t, visage.Options{Timeout: 5 * time.Minute})
	const calls = 300
	results := make(chan error, calls)
	for range calls {
		go func() {
			// 124 KB of one face.
			_, err := client.GetFaceVec(context.Background(), photo("portrait.jpg"), nil)
			results <- err
		}()
	}
	for range calls {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

func TestServiceAnswersTheGeneratedClients(t *testing.T) {
	client := openService(t, visage.Options{})
	content, err := os.ReadFile(filepath.Join(os.Getenv("VISAGE_PHOTOS"), "sample3.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	message := &facev1.GetFaceVecRequest{
		Img:    &facev1.Image{Source: &facev1.Image_Content{Content: content}},
		Detail: true,
	}
	response, err := client.Raw().GetFaceVec(context.Background(), message)
	if err != nil || response.GetData().GetDetail().GetModel() == "" {
		t.Fatal(response, err)
	}

	// Connect, over HTTP/1.1.
	faces := facev1connect.NewFaceServiceClient(http.DefaultClient, os.Getenv("VISAGE_ADDRESS"))
	request := connect.NewRequest(message)
	request.Header().Set("authorization", "Bearer "+os.Getenv("VISAGE_API_KEY"))
	answer, err := faces.GetFaceVec(context.Background(), request)
	if err != nil || len(answer.Msg.GetData().GetVector()) != 128 {
		t.Fatal(answer, err)
	}
}
