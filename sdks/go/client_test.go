// Package visage_test tests the clients of grpc-go (gRPC) and connect-go (Connect) against a running service, given by
// VISAGE_ADDRESS, VISAGE_USER_ID and VISAGE_PHOTOS.
package visage_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	facev1 "github.com/visage-face/visage/sdks/go/face/v1"
	"github.com/visage-face/visage/sdks/go/face/v1/facev1connect"
)

// client is the common interface of both libraries.
type client struct {
	matchFaces   func(context.Context, *facev1.MatchFacesRequest) (*facev1.MatchFacesResponse, error)
	getImageAttr func(context.Context, *facev1.GetImageAttrRequest) (*facev1.GetImageAttrResponse, error)
	getFaceVec   func(context.Context, *facev1.GetFaceVecRequest) (*facev1.GetFaceVecResponse, error)
	// codeOf and infoOf read an error of the library.
	codeOf func(error) codes.Code
	infoOf func(error) *errdetails.ErrorInfo
}

func TestGrpc(t *testing.T) {
	connection, err := grpc.NewClient(
		os.Getenv("VISAGE_ADDRESS"),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(withUserId),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	faces := facev1.NewFaceServiceClient(connection)
	testClient(t, client{
		matchFaces:   unary(faces.MatchFaces),
		getImageAttr: unary(faces.GetImageAttr),
		getFaceVec:   unary(faces.GetFaceVec),
		codeOf:       status.Code,
		infoOf: func(err error) *errdetails.ErrorInfo {
			for _, detail := range status.Convert(err).Details() {
				if info, ok := detail.(*errdetails.ErrorInfo); ok {
					return info
				}
			}
			return nil
		},
	})
}

func TestConnect(t *testing.T) {
	faces := facev1connect.NewFaceServiceClient(
		http.DefaultClient,
		"http://"+os.Getenv("VISAGE_ADDRESS"),
		connect.WithInterceptors(connect.UnaryInterceptorFunc(withUserIdHeader)),
	)
	testClient(t, client{
		matchFaces:   called(faces.MatchFaces),
		getImageAttr: called(faces.GetImageAttr),
		getFaceVec:   called(faces.GetFaceVec),
		codeOf:       func(err error) codes.Code { return codes.Code(connect.CodeOf(err)) },
		infoOf: func(err error) *errdetails.ErrorInfo {
			var failure *connect.Error
			if !errors.As(err, &failure) {
				return nil
			}
			for _, detail := range failure.Details() {
				if value, err := detail.Value(); err == nil {
					if info, ok := value.(*errdetails.ErrorInfo); ok {
						return info
					}
				}
			}
			return nil
		},
	})
}

func testClient(t *testing.T, faces client) {
	t.Run("matches two photographs", func(t *testing.T) {
		request := &facev1.MatchFacesRequest{Img_1: photo(t, "sample3.jpg"), Img_2: photo(t, "sample3.jpg")}
		answer, err := faces.matchFaces(t.Context(), request)
		if err != nil || answer.GetData().GetStatus() != "match" || len(answer.GetData().GetScore()) != 6 {
			t.Fatal(answer, err)
		}
	})
	t.Run("turns a face into a vector", func(t *testing.T) {
		answer, err := faces.getFaceVec(t.Context(), &facev1.GetFaceVecRequest{Img: photo(t, "sample1.jpg")})
		if err != nil || len(answer.GetData().GetVector()) != 128 {
			t.Fatal(answer, err)
		}
	})
	t.Run("tells every face", func(t *testing.T) {
		answer, err := faces.getImageAttr(t.Context(), &facev1.GetImageAttrRequest{ImageAttr: photo(t, "sample1.jpg")})
		found := answer.GetData().GetAttributes().GetFaces()
		if err != nil || len(found) != 3 || len(found["face_id_0"].GetLandmarks().GetFaceLandMark()) != 68 {
			t.Fatal(answer, err)
		}
	})
	t.Run("reads why a request failed", func(t *testing.T) {
		_, err := faces.getFaceVec(t.Context(), &facev1.GetFaceVecRequest{Img: imageOf([]byte("no image"))})
		info := faces.infoOf(err)
		if faces.codeOf(err) != codes.InvalidArgument ||
			info.GetReason() != "UNSUPPORTED_FORMAT" || info.GetMetadata()["code"] != "2004" {
			t.Fatal(err, info)
		}
	})
	t.Run("ends at the deadline", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := faces.getFaceVec(ctx, &facev1.GetFaceVecRequest{Img: photo(t, "sample1.jpg")})
		if faces.codeOf(err) != codes.DeadlineExceeded {
			t.Fatal(err)
		}
	})
}

func photo(t *testing.T, name string) *facev1.Image {
	content, err := os.ReadFile(filepath.Join(os.Getenv("VISAGE_PHOTOS"), name))
	if err != nil {
		t.Fatal(err)
	}
	return imageOf(content)
}

func imageOf(content []byte) *facev1.Image {
	return &facev1.Image{Source: &facev1.Image_Content{Content: content}}
}

func withUserId(
	ctx context.Context, method string, request, answer any,
	connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	ctx = metadata.AppendToOutgoingContext(ctx, "user_id", os.Getenv("VISAGE_USER_ID"))
	return invoke(ctx, method, request, answer, connection, options...)
}

func withUserIdHeader(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		request.Header().Set("user_id", os.Getenv("VISAGE_USER_ID"))
		return next(ctx, request)
	}
}

func unary[In, Out any](
	call func(context.Context, *In, ...grpc.CallOption) (*Out, error),
) func(context.Context, *In) (*Out, error) {
	return func(ctx context.Context, request *In) (*Out, error) { return call(ctx, request) }
}

func called[In, Out any](
	call func(context.Context, *connect.Request[In]) (*connect.Response[Out], error),
) func(context.Context, *In) (*Out, error) {
	return func(ctx context.Context, request *In) (*Out, error) {
		response, err := call(ctx, connect.NewRequest(request))
		if err != nil {
			return nil, err
		}
		return response.Msg, nil
	}
}
