// Command stream analyses the photographs of a folder on one stream: go run ./example/stream URL API_KEY FOLDER
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	visage "github.com/visage-face/visage/sdks/go"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: stream URL API_KEY FOLDER")
	}
	client, err := visage.NewClient(os.Args[1], visage.Options{APIKey: os.Args[2]})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	entries, err := os.ReadDir(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	photos := func(yield func(visage.StreamImage) bool) {
		for _, entry := range entries {
			name := entry.Name()
			if !slices.Contains([]string{".jpg", ".jpeg", ".png"}, strings.ToLower(filepath.Ext(name))) {
				continue
			}
			if !yield(visage.StreamImage{Key: name, Image: visage.File(filepath.Join(os.Args[3], name))}) {
				return
			}
		}
	}
	for result, err := range client.AnalyzeImages(context.Background(), photos, nil) {
		switch {
		case err != nil:
			log.Fatal(err)
		case result.Failure != nil:
			log.Print(result.Key, ": ", result.Failure)
		default:
			fmt.Printf("%s: %d faces\n", result.Key, len(result.Response.GetFaces()))
		}
	}
}
