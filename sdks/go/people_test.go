package visage

import (
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	visagev1 "github.com/visage-face/visage/sdks/go/visage/v1"
)

// recordingPeople keeps the requests, and fails deletions and exports as a failingService does.
type recordingPeople struct {
	visagev1.UnimplementedGalleryServiceServer
	failingService
	requests []proto.Message
}

func (s *recordingPeople) CreateGallery(
	_ context.Context, request *visagev1.CreateGalleryRequest,
) (*visagev1.CreateGalleryResponse, error) {
	s.requests = append(s.requests, request)
	return &visagev1.CreateGalleryResponse{}, nil
}

func (s *recordingPeople) UpdateGallery(
	_ context.Context, request *visagev1.UpdateGalleryRequest,
) (*visagev1.UpdateGalleryResponse, error) {
	s.requests = append(s.requests, request)
	return &visagev1.UpdateGalleryResponse{}, nil
}

func (s *recordingPeople) EnrolFace(
	_ context.Context, request *visagev1.EnrolFaceRequest,
) (*visagev1.EnrolFaceResponse, error) {
	s.requests = append(s.requests, request)
	return &visagev1.EnrolFaceResponse{}, nil
}

func (s *recordingPeople) UpdatePerson(
	_ context.Context, request *visagev1.UpdatePersonRequest,
) (*visagev1.UpdatePersonResponse, error) {
	s.requests = append(s.requests, request)
	return &visagev1.UpdatePersonResponse{}, nil
}

func (s *recordingPeople) ImportFaces(
	stream grpc.ClientStreamingServer[visagev1.ImportFacesRequest, visagev1.ImportFacesResponse],
) error {
	request, err := stream.Recv()
	if err != nil {
		return err
	}
	s.requests = append(s.requests, request)
	if _, err := stream.Recv(); err != io.EOF {
		return err
	}
	return stream.SendAndClose(&visagev1.ImportFacesResponse{FaceCount: 1})
}

func (s *recordingPeople) DeletePerson(
	ctx context.Context, request *visagev1.DeletePersonRequest,
) (*visagev1.DeletePersonResponse, error) {
	s.requests = append(s.requests, request)
	return &visagev1.DeletePersonResponse{PersonId: request.GetPersonId()}, s.fail(ctx)
}

func (s *recordingPeople) ExportPerson(
	request *visagev1.ExportPersonRequest, stream grpc.ServerStreamingServer[visagev1.ExportPersonResponse],
) error {
	s.requests = append(s.requests, request)
	if err := stream.Send(&visagev1.ExportPersonResponse{GalleryId: "one"}); err != nil {
		return err
	}
	if err := s.fail(stream.Context()); err != nil {
		return err
	}
	return stream.Send(&visagev1.ExportPersonResponse{GalleryId: "two"})
}

func (s *recordingPeople) open(t *testing.T) *Galleries {
	t.Helper()
	register := func(server *grpc.Server) { visagev1.RegisterGalleryServiceServer(server, s) }
	return openServer(t, register, Options{}).Galleries()
}

func TestCallsSayHowLongSomethingIsKept(t *testing.T) {
	end := time.Date(2100, 1, 1, 0, 0, 0, 5e8, time.UTC)
	for name, test := range map[string]struct {
		expiration      Expiration
		expireTime, ttl string
	}{
		"nothing":  {Expiration{}, "", ""},
		"time":     {Expiration{ExpireTime: end}, `"2100-01-01T00:00:00.500Z"`, ""},
		"duration": {Expiration{TTL: 90 * time.Minute}, "", `"5400s"`},
		"never":    {Expiration{NeverExpires: true}, "", `"0s"`},
		"first":    {Expiration{ExpireTime: end, TTL: 1, NeverExpires: true}, `"2100-01-01T00:00:00.500Z"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			service := &recordingPeople{}
			galleries, ctx := service.open(t), context.Background()
			faces := func(yield func(GalleryFace, error) bool) {
				yield(GalleryFace{PersonID: "ann", Expiration: test.expiration}, nil)
			}
			face := Face{Embedding: &visagev1.Embedding{}}
			_, err1 := galleries.Create(ctx, "staff", &CreateGalleryOptions{Expiration: test.expiration})
			_, err2 := galleries.Update(ctx, "staff", UpdateGalleryOptions{Expiration: test.expiration})
			_, err3 := galleries.EnrolFace(ctx, "staff", "ann", face, &EnrolOptions{Expiration: test.expiration})
			_, err4 := galleries.SetPersonExpiration(ctx, "staff", "ann", test.expiration)
			_, err5 := galleries.ImportFaces(ctx, "staff", faces)
			for _, err := range []error{err1, err2, err3, err4, err5} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if len(service.requests) != 5 {
				t.Fatal(service.requests)
			}
			for _, request := range service.requests {
				expectField(t, request, "expire_time", test.expireTime)
				expectField(t, request, "ttl", test.ttl)
			}
		})
	}
}

// expectField compares a field of a request, as JSON, with the expected text, which is empty for a missing field.
func expectField(t *testing.T, request proto.Message, name string, want string) {
	t.Helper()
	message := request.ProtoReflect()
	field := message.Descriptor().Fields().ByTextName(name)
	got := ""
	if message.Has(field) {
		json, err := protojson.Marshal(message.Get(field).Message().Interface())
		if err != nil {
			t.Fatal(err)
		}
		got = string(json)
	}
	if got != want {
		t.Errorf("%T has the %s %s, want %s", request, name, got, want)
	}
}

func TestAnExportedFaceHasTheEndOfItsPerson(t *testing.T) {
	kept := galleryFaceFrom(&visagev1.ExportGalleryResponse{})
	if !kept.ExpireTime.IsZero() {
		t.Error(kept.ExpireTime)
	}
	end := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	face := galleryFaceFrom(&visagev1.ExportGalleryResponse{ExpireTime: timestamppb.New(end)})
	if !face.ExpireTime.Equal(end) {
		t.Error(face.ExpireTime)
	}
}

func TestADeletionOfAPersonReturnsAReceiptUnlessItsResponseWasLost(t *testing.T) {
	personNotFound := failure{code: codes.NotFound, reason: "PERSON_NOT_FOUND"}
	for name, test := range map[string]struct {
		failures   []failure
		hasReceipt bool
		reason     string
	}{
		"deleted": {nil, true, ""},
		"retried": {[]failure{draining}, true, ""},
		"lost":    {[]failure{noResponse, personNotFound}, false, ""},
		"missing": {[]failure{personNotFound}, false, "PERSON_NOT_FOUND"},
	} {
		t.Run(name, func(t *testing.T) {
			service := &recordingPeople{failingService: failingService{failures: test.failures}}
			receipt, err := service.open(t).DeletePerson(context.Background(), "-", "ann")
			expectReason(t, err, test.reason)
			if (receipt != nil) != test.hasReceipt || test.hasReceipt && receipt.GetPersonId() != "ann" {
				t.Error(receipt)
			}
			if request := service.requests[0].(*visagev1.DeletePersonRequest); request.GetGalleryId() != "-" {
				t.Error(request)
			}
		})
	}
}

func TestAnExportOfAPersonStartsAgainAfterABreak(t *testing.T) {
	for name, test := range map[string]struct {
		failures []failure
		want     []string
		reason   string
	}{
		"whole":     {nil, []string{"one", "two"}, ""},
		"broken":    {[]failure{draining, overloaded, noResponse}, []string{"one", "two"}, ""},
		"not found": {[]failure{notFound}, nil, "GALLERY_NOT_FOUND"},
	} {
		t.Run(name, func(t *testing.T) {
			service := &recordingPeople{failingService: failingService{failures: test.failures}}
			exported, err := service.open(t).ExportPerson(context.Background(), "-", "ann")
			expectReason(t, err, test.reason)
			var got []string
			for _, person := range exported {
				got = append(got, person.GetGalleryId())
			}
			if !slices.Equal(got, test.want) {
				t.Error(got)
			}
		})
	}
}
