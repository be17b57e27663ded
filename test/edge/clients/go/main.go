// Command main makes many parallel GetFaceVec calls on one connection and prints how they ended, as JSON:
// main HOST:PORT USER_ID PHOTO CALLS DEADLINE_SECONDS
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"strconv"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	facev1 "github.com/visage-face/visage/sdks/go/face/v1"
)

// statusNames has the names that the other clients print; Go spells them differently.
var statusNames = map[codes.Code]string{
	codes.Unavailable:       "UNAVAILABLE",
	codes.ResourceExhausted: "RESOURCE_EXHAUSTED",
}

func main() {
	log.SetFlags(0)
	photo, err := os.ReadFile(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	calls, _ := strconv.Atoi(os.Args[4])
	seconds, _ := strconv.Atoi(os.Args[5])
	connection, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	client := facev1.NewFaceServiceClient(connection)
	request := &facev1.GetFaceVecRequest{Img: &facev1.Image{Source: &facev1.Image_Content{Content: photo}}}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seconds)*time.Second)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "user_id", os.Args[2])

	outcomes := map[string]int{}
	var lock sync.Mutex
	var all sync.WaitGroup
	for range calls {
		all.Add(1)
		go func() {
			defer all.Done()
			_, err := client.GetFaceVec(ctx, request)
			lock.Lock()
			defer lock.Unlock()
			outcomes[outcomeOf(err)]++
		}()
	}
	all.Wait()
	if err := json.NewEncoder(os.Stdout).Encode(outcomes); err != nil {
		log.Fatal(err)
	}
}

func outcomeOf(err error) string {
	if err == nil {
		return "OK"
	}
	failure := status.Convert(err)
	name, ok := statusNames[failure.Code()]
	if !ok {
		name = failure.Code().String()
	}
	for _, detail := range failure.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return name + " " + info.GetMetadata()["code"]
		}
	}
	return name + " " + failure.Message()
}
