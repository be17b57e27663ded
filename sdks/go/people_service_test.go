package visage_test

import (
	"context"
	"slices"
	"testing"
	"time"

	visage "github.com/visage-face/visage/sdks/go"
)

func TestServiceDeletesPeopleAndGalleriesAtTheirEnd(t *testing.T) {
	_, galleries, id := openGallery(t)
	ctx := context.Background()
	gallery, err := galleries.Get(ctx, id)
	if err != nil || gallery.GetExpireTime() != nil {
		t.Fatal(gallery, err)
	}
	face := randomFaces(gallery.GetModel(), 1)[0]
	end := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	atEnd := visage.Expiration{ExpireTime: end}
	embedding := visage.Face{Embedding: face.Template.Message()}
	if _, err := galleries.EnrolFace(ctx, id, "ann", embedding, &visage.EnrolOptions{Expiration: atEnd}); err != nil {
		t.Fatal(err)
	}
	exported, err := collect(galleries.Export(ctx, id))
	if err != nil || len(exported) != 1 || !exported[0].ExpireTime.Equal(end) {
		t.Fatal(exported, err)
	}
	person, err := galleries.SetPersonExpiration(ctx, id, "ann", visage.Expiration{NeverExpires: true})
	if err != nil || person.GetExpireTime() != nil {
		t.Fatal(person, err)
	}
	if _, err := galleries.ImportFaces(ctx, id, sequence(exported)); err != nil {
		t.Fatal(err)
	}
	person, err = galleries.GetPerson(ctx, id, "ann")
	if err != nil || !person.GetExpireTime().AsTime().Equal(end) {
		t.Fatal(person, err)
	}
	month := visage.Expiration{TTL: 30 * 24 * time.Hour}
	gallery, err = galleries.Update(ctx, id, visage.UpdateGalleryOptions{Expiration: month})
	if err != nil || gallery.GetExpireTime() == nil || time.Until(gallery.GetExpireTime().AsTime()).Round(24*time.Hour) != month.TTL {
		t.Fatal(gallery, err)
	}
	past := visage.Expiration{ExpireTime: time.Unix(1, 0)}
	_, err = galleries.SetPersonExpiration(ctx, id, "ann", past)
	expectFailure(t, err, "BAD_REQUEST")
}

func TestServiceExportsAndDeletesAPersonInAllGalleries(t *testing.T) {
	_, galleries, id := openGallery(t)
	ctx := context.Background()
	other, person := id+"-other", "person-of-"+id
	gallery, err := galleries.Create(ctx, other, &visage.CreateGalleryOptions{DisplayName: "Other"})
	if err != nil {
		t.Fatal(err)
	}
	face := randomFaces(gallery.GetModel(), 1)[0]
	for _, galleryID := range []string{id, other} {
		source := visage.Face{Embedding: face.Template.Message()}
		if _, err := galleries.EnrolFace(ctx, galleryID, person, source, &visage.EnrolOptions{DisplayName: "Ann"}); err != nil {
			t.Fatal(err)
		}
	}
	exported, err := galleries.ExportPerson(ctx, "-", person)
	if err != nil || len(exported) != 2 || exported[1].GetGalleryDisplayName() != "Other" ||
		!slices.Equal(exported[0].GetFaces()[0].GetEmbedding().GetValues(), face.Template.Embedding) {
		t.Fatal(exported, err)
	}
	receipt, err := galleries.DeletePerson(ctx, "-", person)
	if err != nil || len(receipt.GetDeletions()) != 2 || receipt.GetDeletions()[1].GetFaceCount() != 1 ||
		!receipt.GetErasureFinished() || receipt.GetRequestId() == "" {
		t.Fatal(receipt, err)
	}
	_, err = galleries.ExportPerson(ctx, "-", person)
	expectFailure(t, err, "PERSON_NOT_FOUND")
	if err := galleries.Delete(ctx, other); err != nil {
		t.Fatal(err)
	}
}
