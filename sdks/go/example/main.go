// Command example checks whether a person is in a photograph: go run ./example URL API_KEY PERSON PHOTOGRAPH
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
	if len(os.Args) != 5 {
		log.Fatal("usage: example URL API_KEY PERSON PHOTOGRAPH")
	}
	client, err := visage.NewClient(os.Args[1], visage.Options{APIKey: os.Args[2]})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	person := visage.Face{Image: visage.File(os.Args[3])}
	photograph := visage.Face{Image: visage.File(os.Args[4])}
	comparison, err := client.CompareFaces(context.Background(), person, photograph, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, face := range comparison.GetMatches() {
		verdict := "not a match"
		if face.GetMatched() {
			verdict = "match"
		}
		fmt.Printf("%s: %.4f\n", verdict, face.GetDistance())
	}
}
