// Command gallery enrols a person and looks for it on another photograph:
// go run ./example/gallery URL API_KEY GALLERY ONE TWO
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	visage "github.com/visage-face/visage/sdks/go"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 6 {
		log.Fatal("usage: gallery URL API_KEY GALLERY ONE TWO")
	}
	client, err := visage.NewClient(os.Args[1], visage.Options{APIKey: os.Args[2]})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if err := run(context.Background(), client.Galleries(), os.Args[3], os.Args[4], os.Args[5]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, galleries *visage.Galleries, gallery, one, two string) error {
	if _, err := galleries.Create(ctx, gallery, nil); err != nil {
		return err
	}
	ann := visage.Face{Image: visage.File(one)}
	if _, err := galleries.EnrolFace(ctx, gallery, "17", ann, &visage.EnrolOptions{DisplayName: "Ann"}); err != nil {
		return err
	}
	result, err := galleries.Identify(ctx, gallery, visage.Face{Image: visage.File(two)}, nil)
	if err != nil {
		return err
	}
	for i, face := range result.GetFaces() {
		name := "unknown"
		for _, match := range face.GetMatches() {
			name = fmt.Sprintf("%s (%.2f)", match.GetDisplayName(), match.GetDistance())
		}
		fmt.Printf("face %d: %s\n", i+1, name)
	}
	saved := 0
	for _, err := range galleries.Export(ctx, gallery) {
		if err != nil {
			return err
		}
		saved++
	}
	fmt.Println(saved, "faces saved")
	return galleries.Delete(ctx, gallery)
}
