package visage_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"connectrpc.com/connect"

	visage "github.com/visage-face/visage/sdks/go"
	facev1 "github.com/visage-face/visage/sdks/go/face/v1"
	"github.com/visage-face/visage/sdks/go/face/v1/facev1connect"
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
	if err != nil || match.Distance != 0 || !match.IsMatch {
		t.Fatal(match, err)
	}
	comparison, err := client.CompareFaces(context.Background(), photo("sample3.jpg"), photo("sample3.jpg"), nil)
	if err != nil || comparison.Confidence != 1 || !comparison.IsMatch {
		t.Fatal(comparison, err)
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
	if err != nil || len(template.Vector) != 128 || template.Model == "" {
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
		if !errors.As(err, &failure) || failure.Code != code || failure.Image != "img_2" || failure.Retryable {
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
			// 144 KB.
			_, err := client.GetFaceVec(context.Background(), photo("sample1.jpg"), nil)
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
