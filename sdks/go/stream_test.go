package visage

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	visagev1 "github.com/visage-face/visage/sdks/go/visage/v1"
)

// breakingService reads some images of each stream, answers some of them and fails.
type breakingService struct {
	visagev1.UnimplementedFaceAnalysisServiceServer
	reads, answers int
	failure        failure
	streams        atomic.Int32
	onFailure      func()
}

func (s *breakingService) AnalyzeImages(
	stream grpc.BidiStreamingServer[visagev1.AnalyzeImagesRequest, visagev1.AnalyzeImagesResponse],
) error {
	s.streams.Add(1)
	for number := 1; ; number++ {
		request, err := stream.Recv()
		if err != nil {
			return nil
		}
		if number <= s.answers {
			response := &visagev1.AnalyzeImagesResponse_Response{Response: &visagev1.AnalyzeImageResponse{}}
			if err := stream.Send(&visagev1.AnalyzeImagesResponse{Key: request.GetKey(), Result: response}); err != nil {
				return err
			}
		}
		if number == s.reads {
			if s.onFailure != nil {
				s.onFailure()
			}
			return s.failure.error(stream.Context())
		}
	}
}

// openBreaking creates a client of a breaking service.
func openBreaking(t *testing.T, service *breakingService) *Client {
	t.Helper()
	register := func(server *grpc.Server) { visagev1.RegisterFaceAnalysisServiceServer(server, service) }
	return openServer(t, register, Options{})
}

func images(count int) iter.Seq[StreamImage] {
	return func(yield func(StreamImage) bool) {
		for key := range count {
			if !yield(StreamImage{Key: strconv.Itoa(key), Image: Bytes([]byte("photo"))}) {
				return
			}
		}
	}
}

func keysOf(t *testing.T, results iter.Seq2[StreamResult, error]) []int {
	t.Helper()
	var keys []int
	for result, err := range results {
		if err != nil || result.Response == nil {
			t.Fatal(result, err)
		}
		key, _ := strconv.Atoi(result.Key)
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func TestAStreamSendsImagesWithoutAResultAgain(t *testing.T) {
	service := &breakingService{reads: 5, answers: 3, failure: draining}
	keys := keysOf(t, openBreaking(t, service).AnalyzeImages(context.Background(), images(20), nil))
	if len(keys) != 20 || keys[0] != 0 || keys[19] != 19 || len(slices.Compact(keys)) != 20 {
		t.Fatal(keys)
	}
	// Three results a stream.
	if service.streams.Load() < 7 {
		t.Fatal(service.streams.Load())
	}
}

func TestAStreamWithoutProgressFails(t *testing.T) {
	service := &breakingService{reads: 1, answers: 0, failure: draining}
	var last error
	for _, err := range openBreaking(t, service).AnalyzeImages(context.Background(), images(1), nil) {
		last = err
	}
	var failure *Error
	if !errors.As(last, &failure) || failure.Reason != "DRAINING" || service.streams.Load() != 1+defaultRetries {
		t.Fatal(last, service.streams.Load())
	}
}

func TestAStreamThatEndsWhileNoImageIsDueIsOpenedAgain(t *testing.T) {
	failed := make(chan struct{}, 1)
	service := &breakingService{reads: 1, answers: 1, failure: draining, onFailure: func() { failed <- struct{}{} }}
	slow := func(yield func(StreamImage) bool) {
		for image := range images(3) {
			if !yield(image) {
				return
			}
			<-failed
			// The end of the stream most often arrives before the next image.
			time.Sleep(50 * time.Millisecond)
		}
	}
	keys := keysOf(t, openBreaking(t, service).AnalyzeImages(context.Background(), slow, nil))
	if !slices.Equal(keys, []int{0, 1, 2}) || service.streams.Load() < 3 {
		t.Fatal(keys, service.streams.Load())
	}
}
