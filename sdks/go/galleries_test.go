package visage

import (
	"context"
	"io"
	"slices"
	"strconv"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	visagev1 "github.com/visage-face/visage/sdks/go/visage/v1"
)

var notFound = failure{code: codes.NotFound, reason: "GALLERY_NOT_FOUND"}

// noResponse is a call without a response of the service, such as a connection that was lost after the request.
var noResponse = failure{code: codes.Unavailable}

// failingGalleries fails as a failingService does.
type failingGalleries struct {
	visagev1.UnimplementedGalleryServiceServer
	// facesBeforeFailure and faces are those of an export.
	facesBeforeFailure, faces int
	// facesLater is what faces becomes after the first export; nil if it stays.
	facesLater *int
	// hang is whether an export does not end after its faces.
	hang bool
	// ended receives when an export ends.
	ended chan struct{}

	failingService
	imported []int
}

func (s *failingGalleries) CreateGallery(
	ctx context.Context, request *visagev1.CreateGalleryRequest,
) (*visagev1.CreateGalleryResponse, error) {
	return &visagev1.CreateGalleryResponse{}, s.fail(ctx)
}

func (s *failingGalleries) DeleteGallery(
	ctx context.Context, request *visagev1.DeleteGalleryRequest,
) (*visagev1.DeleteGalleryResponse, error) {
	return &visagev1.DeleteGalleryResponse{}, s.fail(ctx)
}

func (s *failingGalleries) ExportGallery(
	request *visagev1.ExportGalleryRequest, stream grpc.ServerStreamingServer[visagev1.ExportGalleryResponse],
) error {
	defer func() { s.ended <- struct{}{} }()
	s.mutex.Lock()
	faces := s.faces
	if s.facesLater != nil {
		s.faces = *s.facesLater
	}
	s.mutex.Unlock()
	for i := range faces + 1 {
		if i == s.facesBeforeFailure {
			if err := s.fail(stream.Context()); err != nil {
				return err
			}
		}
		if i == faces {
			break
		}
		if err := stream.Send(&visagev1.ExportGalleryResponse{PersonId: strconv.Itoa(i)}); err != nil {
			return err
		}
	}
	if s.hang {
		<-stream.Context().Done()
	}
	return nil
}

func (s *failingGalleries) ImportFaces(
	stream grpc.ClientStreamingServer[visagev1.ImportFacesRequest, visagev1.ImportFacesResponse],
) error {
	count := 0
	for {
		if _, err := stream.Recv(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		count++
	}
	if err := s.fail(stream.Context()); err != nil {
		return err
	}
	s.imported = append(s.imported, count)
	return stream.SendAndClose(&visagev1.ImportFacesResponse{FaceCount: int32(count), Revision: int64(len(s.imported))})
}

// openGalleries creates a client of a failing service.
func openGalleries(t *testing.T, service *failingGalleries, options Options) *Galleries {
	t.Helper()
	service.ended = make(chan struct{}, 100)
	register := func(server *grpc.Server) { visagev1.RegisterGalleryServiceServer(server, service) }
	return openServer(t, register, options).Galleries()
}

func (s *failingGalleries) awaitEnd(t *testing.T) {
	t.Helper()
	select {
	case <-s.ended:
	case <-time.After(waitLimit):
		t.Fatal("the export did not end")
	}
}

func TestACreationIsOnlyRetriedAfterARejection(t *testing.T) {
	service := &failingGalleries{failingService: failingService{failures: []failure{overloaded, overloaded}}}
	if _, err := openGalleries(t, service, Options{}).Create(context.Background(), "staff", nil); err != nil {
		t.Fatal(err)
	}
	for reason, failed := range map[string]failure{ReasonUnreachable: noResponse, "INTERNAL": internal} {
		service = &failingGalleries{failingService: failingService{failures: []failure{failed}}}
		_, err := openGalleries(t, service, Options{}).Create(context.Background(), "staff", nil)
		expectReason(t, err, reason)
		if service.calls != 1 {
			t.Fatal(service.calls)
		}
	}
}

func TestADeletionWhoseResponseWasLostSucceeds(t *testing.T) {
	for name, test := range map[string]struct {
		failures []failure
		reason   string
	}{
		"retried":  {[]failure{noResponse, draining}, ""},
		"lost":     {[]failure{noResponse, notFound}, ""},
		"missing":  {[]failure{notFound}, "GALLERY_NOT_FOUND"},
		"rejected": {[]failure{overloaded, notFound}, "GALLERY_NOT_FOUND"},
	} {
		t.Run(name, func(t *testing.T) {
			service := &failingGalleries{failingService: failingService{failures: test.failures}}
			expectReason(t, openGalleries(t, service, Options{}).Delete(context.Background(), "staff"), test.reason)
		})
	}
}

func TestAnExportGoesOnAfterABreak(t *testing.T) {
	none := 0
	for name, test := range map[string]struct {
		before     int
		facesLater *int
		failures   []failure
		taken      int
		reason     string
	}{
		"before the first face": {0, nil, []failure{noResponse, overloaded}, 3, ""},
		"between faces":         {2, nil, []failure{noResponse, overloaded}, 3, ""},
		"after the last face":   {3, nil, []failure{draining}, 3, ""},
		"too often":             {2, nil, []failure{draining, draining, draining, draining}, 2, "DRAINING"},
		"not retryable":         {2, nil, []failure{notFound}, 2, "GALLERY_NOT_FOUND"},
		"last face deleted":     {2, &none, []failure{draining}, 2, ReasonUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			service := &failingGalleries{
				faces: 3, facesBeforeFailure: test.before, facesLater: test.facesLater,
				failingService: failingService{failures: test.failures},
			}
			var taken []string
			var last error
			for face, err := range openGalleries(t, service, Options{}).Export(context.Background(), "staff") {
				last = err
				if err == nil {
					taken = append(taken, face.PersonID)
				}
			}
			if !slices.Equal(taken, []string{"0", "1", "2"}[:test.taken]) || reasonOf(last) != test.reason {
				t.Fatal(taken, last)
			}
			service.awaitEnd(t)
		})
	}
}

func TestLeavingAnExportEndsIt(t *testing.T) {
	service := &failingGalleries{faces: 10, hang: true}
	for _, err := range openGalleries(t, service, Options{}).Export(context.Background(), "staff") {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	service.awaitEnd(t)
}

func TestAnExportWithoutAFaceInTimeFails(t *testing.T) {
	service := &failingGalleries{faces: 3, hang: true}
	taken := 0
	var last error
	galleries := openGalleries(t, service, Options{Timeout: time.Second})
	for _, err := range galleries.Export(context.Background(), "staff") {
		last = err
		taken++
	}
	expectReason(t, last, ReasonDeadlinePassed)
	if taken != 4 {
		t.Fatal(taken)
	}
	service.awaitEnd(t)
}

func TestEachCallOfAnImportIsRetried(t *testing.T) {
	service := &failingGalleries{failingService: failingService{failures: []failure{overloaded, noResponse}}}
	faces := func(yield func(GalleryFace, error) bool) {
		for i := range 10_001 {
			if !yield(GalleryFace{PersonID: "ann", FaceID: strconv.Itoa(i)}, nil) {
				return
			}
		}
	}
	response, err := openGalleries(t, service, Options{}).ImportFaces(context.Background(), "staff", faces)
	if err != nil || response.GetFaceCount() != 10_001 || response.GetRevision() != 3 {
		t.Fatal(response, err)
	}
	if !slices.Equal(service.imported, []int{5000, 5000, 1}) {
		t.Fatal(service.imported)
	}
}

func TestTheFacesOfAnImportMayComeFromOtherCalls(t *testing.T) {
	service := &failingGalleries{faces: 3}
	// An import that kept its slot while it reads the faces would wait for itself.
	galleries := openGalleries(t, service, Options{MaxInFlight: 1})
	ctx := context.Background()
	faces := func(yield func(GalleryFace, error) bool) {
		for face, err := range galleries.Export(ctx, "staff") {
			if err == nil {
				err = galleries.Delete(ctx, "other")
			}
			if !yield(face, err) {
				return
			}
		}
	}
	if response, err := galleries.ImportFaces(ctx, "copy", faces); err != nil || response.GetFaceCount() != 3 {
		t.Fatal(response, err)
	}
}
