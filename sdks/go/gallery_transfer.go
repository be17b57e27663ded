package visage

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	visagev1 "github.com/visage-face/visage/sdks/go/visage/v1"
)

// maxImportBatch is how many faces an import sends in one call: about 3 MB, which is kept for a retry.
const maxImportBatch = 5000

// GalleryFace is a face of a gallery with its vector, as Export returns it and ImportFaces takes it. It is biometric data.
type GalleryFace struct {
	PersonID string
	// FaceID is made from the vector by default.
	FaceID string
	// DisplayName is the name of the person. An import keeps an earlier name if this is empty.
	DisplayName string
	Template    Template
	// CreateTime is when the face was enrolled first. An import ignores it.
	CreateTime time.Time
}

// Export iterates over all faces of a gallery, by the ids of the people and faces. An error ends it.
//
// The stream is retried until the first face has come. Later errors are returned, because a new stream would repeat the
// faces. Each face must come within Options.Timeout; the time that the caller takes does not count.
func (g *Galleries) Export(ctx context.Context, galleryID string) iter.Seq2[GalleryFace, error] {
	return func(yield func(GalleryFace, error) bool) {
		stream, face, failure := g.openExport(ctx, galleryID)
		if stream != nil {
			// Ends a stream that the caller has left.
			defer stream.cancel(nil)
		}
		for face != nil {
			if !yield(galleryFaceFrom(face), nil) {
				return
			}
			face, failure = stream.next(g.client.timeout)
		}
		if failure != nil {
			yield(GalleryFace{}, failure)
		}
	}
}

// openExport opens a stream, with retries within the deadline, and returns its first face; nil if there is none.
func (g *Galleries) openExport(
	ctx context.Context, galleryID string,
) (*exportStream, *visagev1.ExportGalleryResponse, *Error) {
	request := &visagev1.ExportGalleryRequest{GalleryId: galleryID}
	attempts := g.client.newAttempts()
	retryCtx, cancel := context.WithTimeout(ctx, g.client.timeout)
	defer cancel()
	deadline, _ := retryCtx.Deadline()
	for {
		stream := &exportStream{galleries: g, callerCtx: ctx, request: request}
		stream.ctx, stream.cancel = context.WithCancelCause(ctx)
		face, failure := stream.next(time.Until(deadline))
		if failure == nil {
			return stream, face, nil
		}
		stream.cancel(nil)
		delay, ok := attempts.next(retryCtx, failure, stream.trailer)
		if !ok {
			return nil, nil, failure
		}
		g.client.limit.sleep(retryCtx, delay)
	}
}

// errOverdue cancels a stream whose next face has not come in time.
var errOverdue = errors.New("visage: no face came in time")

// exportStream is one stream of an export.
type exportStream struct {
	galleries *Galleries
	request   *visagev1.ExportGalleryRequest
	callerCtx context.Context
	// ctx is that of the stream, and cancel ends it.
	ctx    context.Context
	cancel context.CancelCauseFunc
	// open is nil before the first face.
	open grpc.ServerStreamingClient[visagev1.ExportGalleryResponse]
	// trailer is set by the end of the stream.
	trailer metadata.MD
}

// next returns the next face; nil at the end.
func (s *exportStream) next(timeout time.Duration) (*visagev1.ExportGalleryResponse, *Error) {
	overdue := time.AfterFunc(timeout, func() { s.cancel(errOverdue) })
	defer overdue.Stop()
	face, err := s.receive()
	if err == nil {
		return face, nil
	}
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	var ended *Error
	if errors.As(s.galleries.client.endedBy(s.callerCtx), &ended) {
		return nil, ended
	}
	if errors.Is(context.Cause(s.ctx), errOverdue) {
		return nil, &Error{
			Message: "No face came in time.", Reason: ReasonDeadlinePassed, Retryable: true,
			causes: []error{err, context.DeadlineExceeded},
		}
	}
	return nil, errorFromStatus(err)
}

func (s *exportStream) receive() (*visagev1.ExportGalleryResponse, error) {
	if s.open == nil {
		open, err := s.galleries.raw.ExportGallery(s.ctx, s.request, grpc.Trailer(&s.trailer))
		if err != nil {
			return nil, err
		}
		s.open = open
	}
	return s.open.Recv()
}

// ImportFaces enrols faces that were exported, or vectors of your own. It returns how many, and the revision of the
// gallery.
//
// The faces are sent in calls of 5,000, and each call is retried. Faces with the same ids are replaced, so after an error
// the import can be repeated. An error of the sequence is returned after the calls before it.
func (g *Galleries) ImportFaces(
	ctx context.Context, galleryID string, faces iter.Seq2[GalleryFace, error],
) (*visagev1.ImportFacesResponse, error) {
	total := &visagev1.ImportFacesResponse{}
	batch := &importRequests{}
	for face, err := range faces {
		if err != nil {
			return nil, err
		}
		batch.faces = append(batch.faces, face.importRequest(galleryID))
		if len(batch.faces) < maxImportBatch {
			continue
		}
		if err := g.importBatch(ctx, batch, total); err != nil {
			return nil, err
		}
		batch.faces = batch.faces[:0]
	}
	// An empty import is sent, too, so that a wrong key is noticed.
	if len(batch.faces) > 0 || total.FaceCount == 0 {
		if err := g.importBatch(ctx, batch, total); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// importRequests are the messages of one call.
type importRequests struct {
	faces []*visagev1.ImportFacesRequest
}

// importBatch sends a call and adds its result to the total.
func (g *Galleries) importBatch(
	ctx context.Context, batch *importRequests, total *visagev1.ImportFacesResponse,
) error {
	response, err := call(ctx, g.client, g.sendImport, prepared(batch))
	total.FaceCount += response.GetFaceCount()
	total.Revision = response.GetRevision()
	return err
}

func (g *Galleries) sendImport(
	ctx context.Context, batch *importRequests, options ...grpc.CallOption,
) (*visagev1.ImportFacesResponse, error) {
	stream, err := g.raw.ImportFaces(ctx, options...)
	if err != nil {
		return nil, err
	}
	for _, face := range batch.faces {
		// io.EOF: the service has ended the call, and CloseAndRecv returns its error.
		if err := stream.Send(face); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
	}
	return stream.CloseAndRecv()
}

func galleryFaceFrom(message *visagev1.ExportGalleryResponse) GalleryFace {
	embedding := message.GetEmbedding()
	return GalleryFace{
		PersonID: message.GetPersonId(), FaceID: message.GetFaceId(), DisplayName: message.GetDisplayName(),
		Template:   Template{Vector: embedding.GetValues(), Model: embedding.GetModel()},
		CreateTime: message.GetCreateTime().AsTime(),
	}
}

func (f *GalleryFace) importRequest(galleryID string) *visagev1.ImportFacesRequest {
	return &visagev1.ImportFacesRequest{
		GalleryId: galleryID, PersonId: f.PersonID, FaceId: f.FaceID, DisplayName: f.DisplayName,
		Embedding: f.Template.Embedding(),
	}
}
