package visage

import (
	"context"
	"errors"
	"io"
	"iter"

	"google.golang.org/grpc"

	visagev1 "github.com/visage-face/visage/sdks/go/visage/v1"
)

// GetPerson returns a person with the ids of its faces.
func (g *Galleries) GetPerson(ctx context.Context, galleryID, personID string) (*visagev1.Person, error) {
	request := &visagev1.GetPersonRequest{GalleryId: galleryID, PersonId: personID}
	response, err := g.calls.GetPerson(ctx, request)
	return response.GetPerson(), err
}

// ListPeople iterates over all people of a gallery by id, like List.
func (g *Galleries) ListPeople(ctx context.Context, galleryID string) iter.Seq2[*visagev1.Person, error] {
	return itemsOf(func(token string) ([]*visagev1.Person, string, error) {
		request := &visagev1.ListPeopleRequest{GalleryId: galleryID, PageSize: pageSize, PageToken: token}
		page, err := g.calls.ListPeople(ctx, request)
		return page.GetPeople(), page.GetNextPageToken(), err
	})
}

// UpdatePerson renames a person.
func (g *Galleries) UpdatePerson(
	ctx context.Context, galleryID, personID, displayName string,
) (*visagev1.Person, error) {
	request := &visagev1.UpdatePersonRequest{GalleryId: galleryID, PersonId: personID, DisplayName: &displayName}
	response, err := g.calls.UpdatePerson(ctx, request)
	return response.GetPerson(), err
}

// SetPersonExpiration changes how long a person is kept.
func (g *Galleries) SetPersonExpiration(
	ctx context.Context, galleryID, personID string, expiration Expiration,
) (*visagev1.Person, error) {
	request := &visagev1.UpdatePersonRequest{GalleryId: galleryID, PersonId: personID}
	expiration.set(request)
	response, err := g.calls.UpdatePerson(ctx, request)
	return response.GetPerson(), err
}

// DeletePerson deletes a person with all faces, from a gallery or, with the gallery id "-", from all galleries of the
// user. The receipt says whether the templates are erased. It is nil if the person was deleted by an attempt whose
// response was lost.
func (g *Galleries) DeletePerson(
	ctx context.Context, galleryID, personID string,
) (*visagev1.DeletePersonResponse, error) {
	request := &visagev1.DeletePersonRequest{GalleryId: galleryID, PersonId: personID}
	receipt, err := g.calls.DeletePerson(ctx, request)
	if err != nil || receipt.GetPersonId() == "" {
		return nil, err
	}
	return receipt, nil
}

// ExportPerson returns everything that is stored about a person in a gallery or, with the gallery id "-", in all galleries
// of the user. It is biometric data.
func (g *Galleries) ExportPerson(
	ctx context.Context, galleryID, personID string,
) ([]*visagev1.ExportPersonResponse, error) {
	prepare := func() (*visagev1.ExportPersonRequest, error) {
		return &visagev1.ExportPersonRequest{GalleryId: galleryID, PersonId: personID}, nil
	}
	exported, err := call(ctx, g.client, g.receivePerson, prepare)
	return deref(exported), err
}

func (g *Galleries) receivePerson(
	ctx context.Context, request *visagev1.ExportPersonRequest, options ...grpc.CallOption,
) (*[]*visagev1.ExportPersonResponse, error) {
	stream, err := g.raw.ExportPerson(ctx, request, options...)
	if err != nil {
		return nil, err
	}
	var exported []*visagev1.ExportPersonResponse
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return &exported, nil
		}
		if err != nil {
			return nil, err
		}
		exported = append(exported, message)
	}
}

// DeleteFace deletes a face of a person. When it returns, its template is erased.
func (g *Galleries) DeleteFace(ctx context.Context, galleryID, personID, faceID string) error {
	request := &visagev1.DeleteFaceRequest{GalleryId: galleryID, PersonId: personID, FaceId: faceID}
	_, err := g.calls.DeleteFace(ctx, request)
	return err
}
