// Command example checks whether two photographs show the same person: go run ./example HOST:PORT USER_ID ONE TWO
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	facev1 "github.com/visage-face/visage/sdks/go/face/v1"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 5 {
		log.Fatal("usage: example HOST:PORT USER_ID ONE TWO")
	}
	connection, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()

	ctx = metadata.AppendToOutgoingContext(ctx, "user_id", os.Args[2])
	response, err := facev1.NewFaceServiceClient(connection).MatchFaces(ctx, &facev1.MatchFacesRequest{
		Img_1: imageFrom(os.Args[3]),
		Img_2: imageFrom(os.Args[4]),
	})
	if err != nil {
		log.Fatal(reasonOf(err), " ", status.Convert(err).Message())
	}
	fmt.Printf("%s: %s\n", response.GetData().GetStatus(), response.GetData().GetScore())
}

func imageFrom(path string) *facev1.Image {
	content, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	return &facev1.Image{Source: &facev1.Image_Content{Content: content}}
}

func reasonOf(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return status.Code(err).String()
}
