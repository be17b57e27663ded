// Command example checks whether two photographs show the same person: go run ./example URL API_KEY ONE TWO
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
		log.Fatal("usage: example URL API_KEY ONE TWO")
	}
	client, err := visage.NewClient(os.Args[1], visage.Options{APIKey: os.Args[2]})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	match, err := client.MatchFaces(context.Background(), visage.File(os.Args[3]), visage.File(os.Args[4]), nil)
	if err != nil {
		log.Fatal(err)
	}
	verdict := "not a match"
	if match.IsMatch {
		verdict = "match"
	}
	fmt.Printf("%s: %.4f\n", verdict, match.Distance)
}
