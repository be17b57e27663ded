package visage

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	visagev1 "github.com/visage-face/visage/sdks/go/visage/v1"
)

// maxImportBatch is how many faces an import sends in one call: about 3 MB, which is kept for a retry.
const maxImportBatch = 5000

// GalleryFace is a face of a gallery with its embedding, as Export returns it and ImportFaces takes it. It is biometric
// data.
type GalleryFace struct {
	PersonID string
	// FaceID is made from the embedding by default.
	FaceID string
	// DisplayName is the name of the person. An import keeps an earlier name if this is empty.
	DisplayName string
	Template    Template
	// CreateTime is when the face was enrolled first. An import ignores it.
	CreateTime time.Time
	// Expiration is when the person is deleted. Export sets ExpireTime, and leaves it zero if the person is kept. In an
	// import, a time of the past is valid: the person is deleted at once.
	Expiration
}

// Export iterates over all faces of a gallery, by the ids of the people and faces. An error ends it.
//
// When the stream breaks, a new one is opened, which has the same order, and the faces up to the last one that came are
// skipped. Each face must come within Options.Timeout; the time that the caller takes does not count.
func (g *Galleries) Export(ctx context.Context, galleryID string) iter.Seq2[GalleryFace, error] {
	return func(yield func(GalleryFace, error) bool) {
		export := &galleryExport{
			galleries: g, callerCtx: ctx, request: &visagev1.ExportGalleryRequest{GalleryId: galleryID},
		}
		// Ends a stream that the caller has left.
		defer export.close()
		for {
			face, failure := export.take()
			if failure != nil {
				yield(GalleryFace{}, failure)
				return
			}
			if face == nil || !yield(galleryFaceFrom(face), nil) {
				return
			}
		}
	}
}

// errOverdue cancels a stream whose next face has not come in time.
var errOverdue = errors.New("visage: no face came in time")

// errChanged ends an export that cannot go on, because the last face that came was deleted.
var errChanged = status.Error(codes.Unavailable, "The stream broke, and the gallery has changed since.")

// galleryExport is an export with its current stream.
type galleryExport struct {
	galleries *Galleries
	request   *visagev1.ExportGalleryRequest
	callerCtx context.Context
	// ctx is that of the stream, and cancel ends it; nil while no stream is open.
	ctx    context.Context
	cancel context.CancelCauseFunc
	stream grpc.ServerStreamingClient[visagev1.ExportGalleryResponse]
	// last is the last face that came.
	last *visagev1.ExportGalleryResponse
	// isSkipping is whether the stream has not come to the last face yet.
	isSkipping bool
}

// take returns the next face; nil at the end. It opens a new stream if the current one breaks.
func (e *galleryExport) take() (*visagev1.ExportGalleryResponse, *Error) {
	client := e.galleries.client
	attempts := client.newAttempts()
	retryCtx, cancel := context.WithTimeout(e.callerCtx, client.timeout)
	defer cancel()
	for {
		face, failure := e.next()
		if failure == nil && !e.isSkipping {
			e.last = face
			return face, nil
		}
		if failure == nil {
			if face == nil {
				return nil, client.errorFromStatus(errChanged)
			}
			e.isSkipping = face.GetPersonId() != e.last.GetPersonId() || face.GetFaceId() != e.last.GetFaceId()
			continue
		}
		var trailer metadata.MD
		if e.stream != nil {
			trailer = e.stream.Trailer()
		}
		e.close()
		delay, ok := attempts.next(retryCtx, failure, trailer)
		if !ok {
			return nil, failure
		}
		client.limit.sleep(retryCtx, delay)
	}
}

// next returns the next face of the stream; nil at the end.
func (e *galleryExport) next() (*visagev1.ExportGalleryResponse, *Error) {
	if e.cancel == nil {
		e.ctx, e.cancel = context.WithCancelCause(e.callerCtx)
		e.isSkipping = e.last != nil
	}
	cancel := e.cancel
	overdue := time.AfterFunc(e.galleries.client.timeout, func() { cancel(errOverdue) })
	defer overdue.Stop()
	face, err := e.receive()
	if err == nil {
		return face, nil
	}
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	var ended *Error
	if errors.As(e.galleries.client.endedBy(e.callerCtx), &ended) {
		return nil, ended
	}
	if errors.Is(context.Cause(e.ctx), errOverdue) {
		err = context.DeadlineExceeded
	}
	return nil, e.galleries.client.errorFromEnd(err)
}

func (e *galleryExport) receive() (*visagev1.ExportGalleryResponse, error) {
	if e.stream == nil {
		stream, err := e.galleries.raw.ExportGallery(e.ctx, e.request)
		if err != nil {
			return nil, err
		}
		e.stream = stream
	}
	return e.stream.Recv()
}

func (e *galleryExport) close() {
	if e.cancel != nil {
		e.cancel(nil)
	}
	e.cancel, e.stream = nil, nil
}

// ImportFaces enrols faces that were exported, or embeddings of your own. It returns how many, and the revision of the
// gallery.
//
// The faces are sent in calls of 5,000, and each call is retried. Faces with the same ids are replaced, so after an error
// the import can be repeated. An error of the sequence is returned after the calls before it.
func (g *Galleries) ImportFaces(
	ctx context.Context, galleryID string, faces iter.Seq2[GalleryFace, error],
) (*visagev1.ImportFacesResponse, error) {
	total := &visagev1.ImportFacesResponse{}
	var batch []*visagev1.ImportFacesRequest
	for face, err := range faces {
		if err != nil {
			return nil, err
		}
		batch = append(batch, face.importRequest(galleryID))
		if len(batch) < maxImportBatch {
			continue
		}
		if err := g.importBatch(ctx, batch, total); err != nil {
			return nil, err
		}
		batch = batch[:0]
	}
	if len(batch) > 0 {
		if err := g.importBatch(ctx, batch, total); err != nil {
			return nil, err
		}
	}
	if total.FaceCount > 0 {
		return total, nil
	}
	// There was no call that would fail if the gallery does not exist.
	gallery, err := g.Get(ctx, galleryID)
	if err != nil {
		return nil, err
	}
	total.Revision = gallery.GetRevision()
	return total, nil
}

// importBatch sends a call and adds its result to the total.
func (g *Galleries) importBatch(
	ctx context.Context, batch []*visagev1.ImportFacesRequest, total *visagev1.ImportFacesResponse,
) error {
	prepare := func() (*[]*visagev1.ImportFacesRequest, error) { return &batch, nil }
	response, err := call(ctx, g.client, g.sendImport, prepare)
	total.FaceCount += response.GetFaceCount()
	total.Revision = response.GetRevision()
	return err
}

func (g *Galleries) sendImport(
	ctx context.Context, batch *[]*visagev1.ImportFacesRequest, options ...grpc.CallOption,
) (*visagev1.ImportFacesResponse, error) {
	stream, err := g.raw.ImportFaces(ctx, options...)
	if err != nil {
		return nil, err
	}
	for _, face := range *batch {
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
	face := GalleryFace{
		PersonID: message.GetPersonId(), FaceID: message.GetFaceId(), DisplayName: message.GetDisplayName(),
		Template:   Template{Embedding: embedding.GetValues(), Model: embedding.GetModel()},
		CreateTime: message.GetCreateTime().AsTime(),
	}
	if end := message.GetExpireTime(); end != nil {
		face.ExpireTime = end.AsTime()
	}
	return face
}

func (f *GalleryFace) importRequest(galleryID string) *visagev1.ImportFacesRequest {
	request := &visagev1.ImportFacesRequest{
		GalleryId: galleryID, PersonId: f.PersonID, FaceId: f.FaceID, DisplayName: f.DisplayName,
		Embedding: f.Template.Message(),
	}
	f.Expiration.set(request)
	return request
}
