package visage

import (
	"errors"
	"io"
	"os"

	facev1 "github.com/visage-face/visage/sdks/go/face/v1"
	visagev1 "github.com/visage-face/visage/sdks/go/visage/v1"
)

// Image is a JPEG or PNG. Bytes, File, Reader and URL create it. It is read when its call starts, not while the call
// waits for others.
type Image struct {
	read func() ([]byte, error)
	url  string
}

// Bytes is an image in memory. Do not change the bytes before the call returns.
func Bytes(content []byte) Image {
	return Image{read: func() ([]byte, error) { return content, nil }}
}

// File is an image in a local file.
func File(path string) Image {
	return Image{read: func() ([]byte, error) { return os.ReadFile(path) }}
}

// Reader is an image that is read until its end. It serves one call.
func Reader(reader io.Reader) Image {
	return Image{read: func() ([]byte, error) { return io.ReadAll(reader) }}
}

// URL is an image that the service fetches from an HTTP(S) URL.
func URL(url string) Image {
	return Image{url: url}
}

// message returns the message of face.v1.
func (i Image) message() (*facev1.Image, error) {
	content, err := i.content()
	if err != nil {
		return nil, err
	}
	if i.url != "" {
		return &facev1.Image{Source: &facev1.Image_Url{Url: i.url}}, nil
	}
	return &facev1.Image{Source: &facev1.Image_Content{Content: content}}, nil
}

// typedMessage returns the message of visage.v1.
func (i Image) typedMessage() (*visagev1.Image, error) {
	content, err := i.content()
	if err != nil {
		return nil, err
	}
	if i.url != "" {
		return &visagev1.Image{Source: &visagev1.Image_Url{Url: i.url}}, nil
	}
	return &visagev1.Image{Source: &visagev1.Image_Content{Content: content}}, nil
}

// content reads the image; nil if it has a URL. The error is an *Error.
func (i Image) content() ([]byte, error) {
	if i.url != "" {
		return nil, nil
	}
	if i.read == nil {
		return nil, errorFromImage(errors.New("an image is missing"))
	}
	content, err := i.read()
	if err != nil {
		return nil, errorFromImage(err)
	}
	return content, nil
}
