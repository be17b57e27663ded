package visage

import (
	"context"
	"iter"

	visagev1 "github.com/visage-face/visage/sdks/go/visage/v1"
)

// pageSize is the most that the service returns. Every page counts as one request.
const pageSize = 1000

// Galleries enrols people and tells to whom a face may belong. Goroutines may call it at the same time, and all calls
// follow the rules of the client.
//
// Ids of galleries, people and faces are yours: 1 to 128 letters, digits and ".", "_", "~", "-". What does not exist, or
// belongs to another user, fails with GALLERY_NOT_FOUND, PERSON_NOT_FOUND or FACE_NOT_FOUND.
type Galleries struct {
	client *Client
	raw    visagev1.GalleryServiceClient
	// calls follow the rules of the client.
	calls visagev1.GalleryServiceClient
}

// CreateGalleryOptions are the options of Create.
type CreateGalleryOptions struct {
	// DisplayName is a name for people.
	DisplayName string
	// MaxDistance is the threshold of the gallery, up to 0.9. 0 lets the service choose one that fits the number of faces.
	MaxDistance float32
	// Expiration is when the gallery is deleted with everybody in it.
	Expiration
}

// UpdateGalleryOptions are the changes of Update. What is nil stays.
type UpdateGalleryOptions struct {
	DisplayName *string
	// MaxDistance 0 lets the service choose the threshold again.
	MaxDistance *float32
	// Alias is another id of the gallery, empty for none. It moves at once from the gallery that has it.
	Alias *string
	// Expiration is when the gallery is deleted with everybody in it.
	Expiration
}

// EnrolOptions are the options of EnrolFace.
type EnrolOptions struct {
	// FaceID is the id of the face. A face with the same id is replaced. By default it is made from the embedding, so the
	// same photo is enrolled once.
	FaceID string
	// DisplayName is a name for the person. An earlier name stays if this is empty.
	DisplayName string
	// SkipQualityCheck enrols a face that is too small, too dark or turned away.
	SkipQualityCheck bool
	// CheckPerson searches the gallery first. A face that is far from the other faces of the person fails with
	// FACE_UNLIKE_PERSON, and one that is nearer to another person with FACE_OF_ANOTHER_PERSON. Needs the permissions of
	// Identify.
	CheckPerson bool
	// Expiration is when the person is deleted. A new person without it gets the default of the plan.
	Expiration
}

// IdentifyOptions are the options of Identify.
type IdentifyOptions struct {
	// MaxResults is how many people to return for each face, at most 100. 0 means 1.
	MaxResults int32
	// MaxDistance is a threshold for this call. 0 means that of the gallery, or one that fits its size and the face.
	MaxDistance float32
	// AssumeAdults skips the estimate of age and gender: thresholds and rates then hold for adults only.
	AssumeAdults bool
}

// Raw returns the generated client, like Client.Raw.
func (g *Galleries) Raw() visagev1.GalleryServiceClient { return g.raw }

// Create creates a gallery. It fails with GALLERY_EXISTS if the id is taken. It is only retried if the service
// has rejected it because of load. If the response is lost, Get tells whether the gallery was created. Options may be nil.
func (g *Galleries) Create(
	ctx context.Context, galleryID string, options *CreateGalleryOptions,
) (*visagev1.Gallery, error) {
	given := deref(options)
	request := &visagev1.CreateGalleryRequest{
		GalleryId: galleryID, DisplayName: given.DisplayName, MaxDistance: unlessZero(given.MaxDistance),
	}
	given.Expiration.set(request)
	response, err := g.calls.CreateGallery(ctx, request)
	return response.GetGallery(), err
}

// Get returns a gallery with the number of its people and faces.
func (g *Galleries) Get(ctx context.Context, galleryID string) (*visagev1.Gallery, error) {
	request := &visagev1.GetGalleryRequest{GalleryId: galleryID}
	response, err := g.calls.GetGallery(ctx, request)
	return response.GetGallery(), err
}

// List iterates over all galleries of the user by id. It reads a page when the last one has been taken. An error ends it.
func (g *Galleries) List(ctx context.Context) iter.Seq2[*visagev1.Gallery, error] {
	return itemsOf(func(token string) ([]*visagev1.Gallery, string, error) {
		request := &visagev1.ListGalleriesRequest{PageSize: pageSize, PageToken: token}
		page, err := g.calls.ListGalleries(ctx, request)
		return page.GetGalleries(), page.GetNextPageToken(), err
	})
}

// Update changes the name, the threshold, the alias or the end of a gallery.
func (g *Galleries) Update(
	ctx context.Context, galleryID string, changes UpdateGalleryOptions,
) (*visagev1.Gallery, error) {
	request := &visagev1.UpdateGalleryRequest{
		GalleryId: galleryID, DisplayName: changes.DisplayName, MaxDistance: changes.MaxDistance, Alias: changes.Alias,
	}
	changes.Expiration.set(request)
	response, err := g.calls.UpdateGallery(ctx, request)
	return response.GetGallery(), err
}

// Replace lets the successor take over the id, alias, name, threshold and end of a gallery at once, and deletes the
// gallery. With a revision, it fails with GALLERY_CHANGED if the gallery has another one now. The revision may be nil.
func (g *Galleries) Replace(
	ctx context.Context, galleryID, successorID string, revision *int64,
) (*visagev1.Gallery, error) {
	request := &visagev1.ReplaceGalleryRequest{GalleryId: galleryID, SuccessorId: successorID, Revision: revision}
	response, err := g.calls.ReplaceGallery(ctx, request)
	return response.GetGallery(), err
}

// Delete deletes a gallery with everybody in it. When it returns, the templates are erased.
func (g *Galleries) Delete(ctx context.Context, galleryID string) error {
	_, err := g.calls.DeleteGallery(ctx, &visagev1.DeleteGalleryRequest{GalleryId: galleryID})
	return err
}

// EnrolFace adds a face to a person, and the person to the gallery if it is new. The most prominent face of an image is
// used unless a box selects another. A person has 20 faces at most. Options may be nil.
func (g *Galleries) EnrolFace(
	ctx context.Context, galleryID, personID string, face Face, options *EnrolOptions,
) (*visagev1.EnrolFaceResponse, error) {
	given := deref(options)
	return call(ctx, g.client, g.raw.EnrolFace, func() (*visagev1.EnrolFaceRequest, error) {
		source, err := face.message()
		request := &visagev1.EnrolFaceRequest{
			GalleryId: galleryID, PersonId: personID, Source: source, FaceId: given.FaceID,
			DisplayName: unlessZero(given.DisplayName), SkipQualityCheck: given.SkipQualityCheck,
			CheckPerson: given.CheckPerson,
		}
		given.Expiration.set(request)
		return request, err
	})
}

// Identify finds the people to whom a face may belong: every face of an image, the one in a box, or an embedding. A
// stranger has no matches, and an image without a face gives no faces. Options may be nil.
func (g *Galleries) Identify(
	ctx context.Context, galleryID string, face Face, options *IdentifyOptions,
) (*visagev1.IdentifyFacesResponse, error) {
	given := deref(options)
	return call(ctx, g.client, g.raw.IdentifyFaces, func() (*visagev1.IdentifyFacesRequest, error) {
		source, err := face.message()
		return &visagev1.IdentifyFacesRequest{
			GalleryId: galleryID, Source: source, MaxResults: given.MaxResults, MaxDistance: unlessZero(given.MaxDistance),
			AssumeAdults: given.AssumeAdults,
		}, err
	})
}

// itemsOf iterates over the items of all pages. read takes a token and returns a page and the token of the next one.
func itemsOf[Item any](read func(token string) ([]Item, string, error)) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		var none Item
		for token := ""; ; {
			items, next, err := read(token)
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			token = next
		}
	}
}

// unlessZero returns a pointer to a value that is not zero, for an optional field.
func unlessZero[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}
