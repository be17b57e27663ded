package visage

import (
	"context"
	"errors"

	visagev1 "github.com/visage-face/visage/sdks/go/visage/v1"
)

// AnalyzeOptions are the options of AnalyzeImage and AnalyzeImages.
type AnalyzeOptions struct {
	// Features are what to return of each face besides box and scores. By default they are landmarks, attributes and
	// quality.
	Features []visagev1.Feature
	// Boxes select the faces instead of detecting them. AnalyzeImages uses those of each image.
	Boxes []*visagev1.BoundingBox
	// MaxFaces is how many of the detected faces to return, the most prominent first. 0 means 256.
	MaxFaces int32
}

// Face is a face to compare, enrol or identify: in an image, or as an embedding. Give either Image or Embedding.
type Face struct {
	Image Image
	// Box selects the face of the image.
	Box *visagev1.BoundingBox
	// Embedding is that of an analysis, or Template.Message().
	Embedding *visagev1.Embedding
}

// CompareOptions are the options of CompareFaces.
type CompareOptions struct {
	// MaxFalseMatchRate chooses the thresholds so that at most this share of pairs of different people match. 0 means the
	// threshold 0.5.
	MaxFalseMatchRate float32
	// AssumeAdults skips the estimate of age and gender: thresholds and rates then hold for adults only.
	AssumeAdults bool
}

// AnalyzeImage measures every face of an image, or the faces in the boxes. Options may be nil.
func (c *Client) AnalyzeImage(
	ctx context.Context, image Image, options *AnalyzeOptions,
) (*visagev1.AnalyzeImageResponse, error) {
	given := deref(options)
	return call(ctx, c, c.rawAnalysis.AnalyzeImage, func() (*visagev1.AnalyzeImageRequest, error) {
		return given.request(image, given.Boxes)
	})
}

// CompareFaces compares a face with every face of an image, or with an embedding. Options may be nil.
func (c *Client) CompareFaces(
	ctx context.Context, source, target Face, options *CompareOptions,
) (*visagev1.CompareFacesResponse, error) {
	return call(ctx, c, c.rawAnalysis.CompareFaces, func() (*visagev1.CompareFacesRequest, error) {
		one, err := source.message()
		if err != nil {
			return nil, err
		}
		other, err := target.message()
		given := deref(options)
		return &visagev1.CompareFacesRequest{
			Source: one, Target: other, MaxFalseMatchRate: given.MaxFalseMatchRate, AssumeAdults: given.AssumeAdults,
		}, err
	})
}

// request reads an image and returns its request.
func (o AnalyzeOptions) request(
	image Image, boxes []*visagev1.BoundingBox,
) (*visagev1.AnalyzeImageRequest, error) {
	read, err := image.typedMessage()
	if err != nil {
		return nil, err
	}
	return &visagev1.AnalyzeImageRequest{Image: read, Features: o.Features, Boxes: boxes, MaxFaces: o.MaxFaces}, nil
}

func (f Face) message() (*visagev1.FaceSource, error) {
	if f.Embedding != nil {
		if f.Image.read != nil || f.Image.url != "" {
			return nil, errors.New("visage: a face has either an image or an embedding")
		}
		return &visagev1.FaceSource{Source: &visagev1.FaceSource_Embedding{Embedding: f.Embedding}, Box: f.Box}, nil
	}
	image, err := f.Image.typedMessage()
	return &visagev1.FaceSource{Source: &visagev1.FaceSource_Image{Image: image}, Box: f.Box}, err
}
