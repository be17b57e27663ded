package visage

import (
	"context"
	"fmt"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	facev1 "github.com/visage-face/visage/sdks/go/face/v1"
	visagev1 "github.com/visage-face/visage/sdks/go/visage/v1"
)

// Box is a bounding box in pixels of the upright image.
type Box struct{ X1, Y1, X2, Y2 int32 }

// Point is a point in pixels of the upright image. It may lie outside the image.
type Point struct{ X, Y int32 }

// Match is the comparison of two faces.
type Match struct {
	// Distance is 0 to 0.9, to four decimals.
	Distance float64
	// Matched is whether both faces are the same person: the distance is below 0.5.
	Matched bool
}

// ImageAttributes has the faces of an image.
type ImageAttributes struct {
	// Width and Height are the size of the upright image in pixels.
	Width, Height int32
	// Faces begins with the most prominent face. If the call gave boxes, it is in their order.
	Faces []FaceAttributes
}

// FaceAttributes has the attributes of a face. Age range and gender are how the face appears, not facts about the
// person.
type FaceAttributes struct {
	Box Box
	// Age is one of 0-10, 10-20, 20-40, 40-60, 60-100.
	Age string
	// Gender is male or female.
	Gender string
	// GenderConfidence is 0.501 to 1.
	GenderConfidence float64
	// Landmarks has 68 landmarks by the keys of docs/api.md.
	Landmarks map[string]Point
}

// Template is the embedding of a face.
type Template struct {
	// Embedding has 128 numbers. The Euclidean distance between two embeddings is below 0.5 for the same person.
	Embedding []float32
	// Model is the model that computed the embedding. Store it: embeddings of different models cannot be compared.
	Model string
}

// Message converts the template for a Face.
func (t *Template) Message() *visagev1.Embedding {
	return &visagev1.Embedding{Values: t.Embedding, Model: t.Model}
}

// MatchOptions are the options of MatchFaces.
type MatchOptions struct {
	// Box1 and Box2 select the face of their image.
	Box1, Box2 *Box
	// SkipDetection takes the box as a face, or the whole image if there is no box.
	SkipDetection bool
}

// AttrOptions are the options of GetImageAttr.
type AttrOptions struct {
	// Boxes select the faces.
	Boxes []Box
	// SkipDetection takes each box as a face, or the whole image if there are no boxes.
	SkipDetection bool
}

// VecOptions are the options of GetFaceVec.
type VecOptions struct {
	// Box selects the face.
	Box *Box
	// Quality rejects a face that is too small, too dark or turned away.
	Quality bool
	// SkipDetection takes the box as a face, or the whole image if there is no box.
	SkipDetection bool
}

// MatchFaces compares the faces of two images. Options may be nil.
func (c *Client) MatchFaces(ctx context.Context, one, other Image, options *MatchOptions) (*Match, error) {
	given := deref(options)
	response, err := call(ctx, c, c.raw.MatchFaces, func() (*facev1.MatchFacesRequest, error) {
		img1, img2, err := readBoth(one, other)
		return &facev1.MatchFacesRequest{
			Img_1: img1, Img_2: img2,
			Bboxes_1: given.Box1.message(), Bboxes_2: given.Box2.message(),
			FaceDet: faceDet(given.SkipDetection),
		}, err
	})
	if err != nil {
		return nil, err
	}
	data := response.GetData()
	distance, err := strconv.ParseFloat(data.GetScore(), 64)
	return &Match{Distance: distance, Matched: data.GetStatus() == "match"}, err
}

// GetImageAttr analyses all faces of an image, or those in the boxes. Options may be nil.
func (c *Client) GetImageAttr(ctx context.Context, image Image, options *AttrOptions) (*ImageAttributes, error) {
	given := deref(options)
	response, err := call(ctx, c, c.raw.GetImageAttr, func() (*facev1.GetImageAttrRequest, error) {
		read, err := image.message()
		request := &facev1.GetImageAttrRequest{ImageAttr: read, FaceDet: faceDet(given.SkipDetection)}
		for _, box := range given.Boxes {
			request.Bboxes = append(request.Bboxes, box.message())
		}
		return request, err
	})
	if err != nil {
		return nil, err
	}
	return imageAttributesFrom(response.GetData().GetAttributes()), nil
}

// GetFaceVec computes the template of a face. Options may be nil.
func (c *Client) GetFaceVec(ctx context.Context, image Image, options *VecOptions) (*Template, error) {
	given := deref(options)
	var trailer metadata.MD
	response, err := call(ctx, c, c.raw.GetFaceVec, func() (*facev1.GetFaceVecRequest, error) {
		read, err := image.message()
		return &facev1.GetFaceVecRequest{
			Img: read, Bboxes: given.Box.message(), Quality: given.Quality, FaceDet: faceDet(given.SkipDetection),
		}, err
	}, grpc.Trailer(&trailer))
	if err != nil {
		return nil, err
	}
	template := &Template{Embedding: response.GetData().GetVector()}
	if model := trailer.Get("x-visage-model"); len(model) > 0 {
		template.Model = model[0]
	}
	return template, nil
}

func imageAttributesFrom(attributes *facev1.Attributes) *ImageAttributes {
	result := &ImageAttributes{Faces: make([]FaceAttributes, len(attributes.GetFaces()))}
	if size := attributes.GetImageSize(); len(size) == 2 {
		result.Height, result.Width = size[0], size[1]
	}
	// A Protobuf map is unordered.
	for i := range result.Faces {
		face := attributes.GetFaces()[fmt.Sprintf("face_id_%d", i)]
		points := face.GetLandmarks().GetFaceLandMark()
		landmarks := make(map[string]Point, len(points))
		for key, point := range points {
			landmarks[key] = Point{point.GetX(), point.GetY()}
		}
		result.Faces[i] = FaceAttributes{
			Age: face.GetAge(), Gender: face.GetGender(), GenderConfidence: face.GetGenderConfidence(), Landmarks: landmarks,
		}
		if box := face.GetFaceRectangle(); len(box) == 4 {
			result.Faces[i].Box = Box{box[0], box[1], box[2], box[3]}
		}
	}
	return result
}

func (b *Box) message() *facev1.BoundingBox {
	if b == nil {
		return nil
	}
	return &facev1.BoundingBox{X1: b.X1, Y1: b.Y1, X2: b.X2, Y2: b.Y2}
}

func readBoth(one, other Image) (*facev1.Image, *facev1.Image, error) {
	first, err := one.message()
	if err != nil {
		return nil, nil, err
	}
	second, err := other.message()
	return first, second, err
}

// faceDet leaves the field out unless detection is off.
func faceDet(skipDetection bool) *bool {
	if skipDetection {
		return proto.Bool(false)
	}
	return nil
}

func deref[T any](options *T) T {
	var none T
	if options == nil {
		return none
	}
	return *options
}
