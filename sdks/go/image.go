package visage

import (
	"errors"
	"io"
	"os"

	facev1 "github.com/visage-face/visage/sdks/go/face/v1"
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

func (i Image) message() (*facev1.Image, error) {
	if i.read == nil {
		if i.url == "" {
			return nil, errors.New("visage: an image is missing")
		}
		return &facev1.Image{Source: &facev1.Image_Url{Url: i.url}}, nil
	}
	content, err := i.read()
	if err != nil {
		return nil, err
	}
	return &facev1.Image{Source: &facev1.Image_Content{Content: content}}, nil
}
