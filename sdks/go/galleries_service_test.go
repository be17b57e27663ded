package visage_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	visage "github.com/visage-face/visage/sdks/go"
	visagev1 "github.com/visage-face/visage/sdks/go/visage/v1"
)

// greySquare is a PNG of 64 pixels without a face.
const greySquare = "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAAAAACPAi4CAAAAKUlEQVR42u3MQREAAAwCIKMb3RD77SAA6VEEAoFAIBAIBAKBQCAQfA8" +
	"G320AeXC6efoAAAAASUVORK5CYII="

// openGallery creates a gallery for a test.
func openGallery(t *testing.T) (*visage.Client, *visage.Galleries, string) {
	t.Helper()
	client := openService(t, visage.Options{})
	id := fmt.Sprintf("go-%d", time.Now().UnixNano())
	if _, err := client.Galleries().Create(context.Background(), id, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cleaner := openService(t, visage.Options{})
		if err := cleaner.Galleries().Delete(context.Background(), id); err != nil {
			t.Error(err)
		}
	})
	return client, client.Galleries(), id
}

func expectFailure(t *testing.T, err error, reason string) {
	t.Helper()
	var failure *visage.Error
	if !errors.As(err, &failure) || failure.Reason != reason {
		t.Errorf("got %v, want %s", err, reason)
	}
}

// collect takes all items, and the error that ended them.
func collect[Item any](items iter.Seq2[Item, error]) ([]Item, error) {
	var all []Item
	for item, err := range items {
		if err != nil {
			return all, err
		}
		all = append(all, item)
	}
	return all, nil
}

// sequence is an import of the faces.
func sequence(faces []visage.GalleryFace) iter.Seq2[visage.GalleryFace, error] {
	return func(yield func(visage.GalleryFace, error) bool) {
		for _, face := range faces {
			if !yield(face, nil) {
				return
			}
		}
	}
}

// randomFaces are faces of strangers, two for each person.
func randomFaces(model string, count int) []visage.GalleryFace {
	numbers := rand.New(rand.NewPCG(1, 1))
	faces := make([]visage.GalleryFace, count)
	for i := range faces {
		embedding := make([]float32, 128)
		var sum float64
		for j := range embedding {
			value := numbers.NormFloat64()
			embedding[j] = float32(value)
			sum += value * value
		}
		for j := range embedding {
			embedding[j] *= float32(0.45 / math.Sqrt(sum))
		}
		faces[i] = visage.GalleryFace{
			PersonID: fmt.Sprintf("person-%05d", i/2), FaceID: fmt.Sprintf("face-%05d", i),
			DisplayName: fmt.Sprintf("Person %d", i/2), Template: visage.Template{Embedding: embedding, Model: model},
		}
	}
	return faces
}

func TestServiceCreatesChangesAndDeletesAGallery(t *testing.T) {
	_, galleries, id := openGallery(t)
	ctx := context.Background()
	other := id + "-2"
	options := &visage.CreateGalleryOptions{DisplayName: "Staff", MaxDistance: 0.5}
	created, err := galleries.Create(ctx, other, options)
	if err != nil || created.GetGalleryId() != other || created.GetDisplayName() != "Staff" || created.GetMaxDistance() != 0.5 {
		t.Fatal(created, err)
	}
	_, err = galleries.Create(ctx, other, nil)
	expectFailure(t, err, "GALLERY_EXISTS")
	listed, err := collect(galleries.List(ctx))
	hasID := func(gallery *visagev1.Gallery) bool { return gallery.GetGalleryId() == other }
	if err != nil || !slices.ContainsFunc(listed, hasID) {
		t.Fatal(listed, err)
	}
	name, automatic := "Guests", float32(0)
	changed, err := galleries.Update(ctx, other, visage.UpdateGalleryOptions{DisplayName: &name})
	if err != nil || changed.GetDisplayName() != name || changed.GetMaxDistance() != 0.5 {
		t.Fatal(changed, err)
	}
	changed, err = galleries.Update(ctx, other, visage.UpdateGalleryOptions{MaxDistance: &automatic})
	if err != nil || changed.GetDisplayName() != name || changed.MaxDistance != nil {
		t.Fatal(changed, err)
	}
	if err := galleries.Delete(ctx, other); err != nil {
		t.Fatal(err)
	}
	_, err = galleries.Get(ctx, other)
	expectFailure(t, err, "GALLERY_NOT_FOUND")
}

func TestServiceEnrolsIdentifiesAndDeletesAPerson(t *testing.T) {
	client, galleries, id := openGallery(t)
	ctx := context.Background()
	group := visage.Face{Image: photo("sample3.jpg")}
	enrolled, err := galleries.EnrolFace(ctx, id, "ann", group, &visage.EnrolOptions{FaceID: "first", DisplayName: "Ann"})
	if err != nil || enrolled.GetFaceId() != "first" {
		t.Fatal(enrolled, err)
	}
	boxed := visage.Face{Image: photo("sample3.jpg"), Box: enrolled.GetBox()}
	if _, err := galleries.EnrolFace(ctx, id, "ann", boxed, nil); err != nil {
		t.Fatal(err)
	}
	person, err := galleries.GetPerson(ctx, id, "ann")
	if err != nil || len(person.GetFaces()) != 2 || person.GetDisplayName() != "Ann" {
		t.Fatal(person, err)
	}

	result, err := galleries.Identify(ctx, id, group, &visage.IdentifyOptions{MaxResults: 3})
	if err != nil || len(result.GetFaces()) != 3 || result.GetFaces()[0].GetMatches()[0].GetPersonId() != "ann" ||
		len(result.GetFaces()[1].GetMatches()) != 0 {
		t.Fatal(result, err)
	}
	template, err := client.GetFaceVec(ctx, photo("sample3.jpg"), nil)
	if err != nil {
		t.Fatal(err)
	}
	embedding := visage.Face{Embedding: template.Message()}
	result, err = galleries.Identify(ctx, id, embedding, &visage.IdentifyOptions{MaxDistance: 0.3})
	if err != nil || result.GetFaces()[0].GetMatches()[0].GetPersonId() != "ann" {
		t.Fatal(result, err)
	}

	if _, err := galleries.EnrolFace(ctx, id, "ben", embedding, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := galleries.UpdatePerson(ctx, id, "ben", "Ben"); err != nil {
		t.Fatal(err)
	}
	if err := galleries.DeleteFace(ctx, id, "ann", "first"); err != nil {
		t.Fatal(err)
	}
	expectFailure(t, galleries.DeleteFace(ctx, id, "ann", "first"), "FACE_NOT_FOUND")
	if receipt, err := galleries.DeletePerson(ctx, id, "ann"); err != nil || receipt.GetPersonId() != "ann" {
		t.Fatal(receipt, err)
	}
	people, err := collect(galleries.ListPeople(ctx, id))
	if err != nil || len(people) != 1 || people[0].GetDisplayName() != "Ben" {
		t.Fatal(people, err)
	}
}

func TestServiceReportsErrorsOfGalleries(t *testing.T) {
	_, galleries, id := openGallery(t)
	ctx := context.Background()
	content, err := base64.StdEncoding.DecodeString(greySquare)
	if err != nil {
		t.Fatal(err)
	}
	noFace := visage.Face{Image: visage.Bytes(content)}
	_, err = galleries.EnrolFace(ctx, id, "ann", noFace, nil)
	expectFailure(t, err, "NO_FACE")
	if result, err := galleries.Identify(ctx, id, noFace, nil); err != nil || len(result.GetFaces()) != 0 {
		t.Error(result, err)
	}
	_, err = galleries.Identify(ctx, id, visage.Face{Image: visage.URL("http://127.0.0.1/photo.jpg")}, nil)
	expectFailure(t, err, "URL_UNREACHABLE")
	_, err = galleries.EnrolFace(ctx, id, "ann", visage.Face{Image: visage.File("no-such-file.jpg")}, nil)
	expectFailure(t, err, visage.ReasonUnreadableImage)
	_, err = galleries.GetPerson(ctx, id, "nobody")
	expectFailure(t, err, "PERSON_NOT_FOUND")
	_, err = galleries.DeletePerson(ctx, id, "nobody")
	expectFailure(t, err, "PERSON_NOT_FOUND")
	_, err = galleries.ImportFaces(ctx, id, sequence(randomFaces("another", 1)))
	expectFailure(t, err, "MODEL_MISMATCH")
	invalid := []visage.GalleryFace{{PersonID: "\xff"}}
	if _, err := galleries.ImportFaces(ctx, id, sequence(invalid)); err == nil {
		t.Error("an id that is not UTF-8 was accepted")
	}

	if nothing, err := galleries.ImportFaces(ctx, id, sequence(nil)); err != nil || nothing.GetFaceCount() != 0 {
		t.Error(nothing, err)
	}
	_, err = galleries.ImportFaces(ctx, "missing", sequence(nil))
	expectFailure(t, err, "GALLERY_NOT_FOUND")
}

func TestServiceHidesAGalleryFromOtherUsers(t *testing.T) {
	_, _, id := openGallery(t)
	ctx := context.Background()
	key := os.Getenv("VISAGE_OTHER_API_KEY")
	if key == "" {
		t.Skip("VISAGE_OTHER_API_KEY is not set")
	}
	other := openService(t, visage.Options{APIKey: key}).Galleries()
	_, err := other.Get(ctx, id)
	expectFailure(t, err, "GALLERY_NOT_FOUND")
	expectFailure(t, other.Delete(ctx, id), "GALLERY_NOT_FOUND")
	_, err = collect(other.Export(ctx, id))
	expectFailure(t, err, "GALLERY_NOT_FOUND")
	_, err = collect(other.ListPeople(ctx, id))
	expectFailure(t, err, "GALLERY_NOT_FOUND")
}

func TestServiceImportsAnExport(t *testing.T) {
	_, galleries, id := openGallery(t)
	ctx := context.Background()
	gallery, err := galleries.Get(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	// More than a page of people, and more than an import sends in one call.
	faces := randomFaces(gallery.GetModel(), 5100)
	imported, err := galleries.ImportFaces(ctx, id, sequence(faces))
	if err != nil || imported.GetFaceCount() != 5100 {
		t.Fatal(imported, err)
	}
	people, err := collect(galleries.ListPeople(ctx, id))
	if err != nil || len(people) != 2550 || people[2549].GetPersonId() != "person-02549" {
		t.Fatal(len(people), err)
	}
	exported, err := collect(galleries.Export(ctx, id))
	sameID := func(a, b visage.GalleryFace) bool {
		return a.FaceID == b.FaceID && a.Template.Embedding[7] == b.Template.Embedding[7]
	}
	if err != nil || !slices.EqualFunc(exported, faces, sameID) || exported[0].CreateTime.Year() < 2020 {
		t.Fatal(len(exported), err)
	}
	// Again, from a stream to a stream.
	copied, err := galleries.ImportFaces(ctx, id, galleries.Export(ctx, id))
	if err != nil || copied.GetFaceCount() != 5100 {
		t.Fatal(copied, err)
	}
}

func TestServiceEndsAnExport(t *testing.T) {
	client, galleries, id := openGallery(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	gallery, err := galleries.Get(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := galleries.ImportFaces(ctx, id, sequence(randomFaces(gallery.GetModel(), 1200))); err != nil {
		t.Fatal(err)
	}
	for face, err := range galleries.Export(ctx, id) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(face.FaceID, "10") {
			break
		}
	}
	for _, end := range []func(){cancel, func() { _ = client.Close() }} {
		var last error
		given := context.Background()
		if ctx.Err() == nil {
			given = ctx
		}
		for _, err := range galleries.Export(given, id) {
			last = err
			end()
		}
		expectFailure(t, last, "CANCELLED")
	}
}

func TestServiceImportStopsAtAnError(t *testing.T) {
	_, galleries, id := openGallery(t)
	ctx := context.Background()
	gallery, err := galleries.Get(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk is gone")
	failing := func(yield func(visage.GalleryFace, error) bool) {
		for _, face := range randomFaces(gallery.GetModel(), 10) {
			if !yield(face, nil) {
				return
			}
		}
		yield(visage.GalleryFace{}, broken)
	}
	if _, err := galleries.ImportFaces(ctx, id, failing); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	// No call was sent, as the first one was not complete.
	if gallery, err := galleries.Get(ctx, id); err != nil || gallery.GetFaceCount() != 0 {
		t.Fatal(gallery, err)
	}
}

func TestServiceReplacesAGallery(t *testing.T) {
	ctx := context.Background()
	_, galleries, id := openGallery(t)
	successor, alias, staleRevision := id+"-next", id+"-alias", int64(1000)
	if _, err := galleries.Create(ctx, successor, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := galleries.Update(ctx, id, visage.UpdateGalleryOptions{Alias: &alias}); err != nil {
		t.Fatal(err)
	}
	_, err := galleries.Replace(ctx, id, successor, &staleRevision)
	expectFailure(t, err, "GALLERY_CHANGED")
	if _, err := galleries.Replace(ctx, id, successor, nil); err != nil {
		t.Fatal(err)
	}
	found, err := galleries.Get(ctx, alias)
	if err != nil || found.GetGalleryId() != id {
		t.Errorf("got %v, %v", found, err)
	}
	_, err = galleries.Get(ctx, successor)
	expectFailure(t, err, "GALLERY_NOT_FOUND")
}
