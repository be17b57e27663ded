package visage

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	facev1 "github.com/visage-face/visage/sdks/go/face/v1"
)

// failure is the error that a call of the fake service ends with.
type failure struct {
	code       codes.Code
	reason     string
	retryable  bool
	retryAfter time.Duration
	pushback   string
}

// failingService fails with the failures one after the other, then succeeds.
type failingService struct {
	mutex    sync.Mutex
	failures []failure
	calls    int
}

func (s *failingService) fail(ctx context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.calls++
	if len(s.failures) == 0 {
		return nil
	}
	next := s.failures[0]
	s.failures = s.failures[1:]
	return next.error(ctx)
}

// error returns the error with the details that the real service sends.
func (f failure) error(ctx context.Context) error {
	result := status.New(f.code, "Sorry.")
	if f.pushback != "" {
		_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", f.pushback))
	}
	if f.reason == "" {
		return result.Err()
	}
	fields := map[string]string{"code": "9999", "retryable": "false", "stage": "find", "field": "img"}
	if f.retryable {
		fields["retryable"] = "true"
	}
	result, err := result.WithDetails(
		&errdetails.ErrorInfo{Reason: f.reason, Domain: "visage", Metadata: fields},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(f.retryAfter)},
	)
	if err != nil {
		return err
	}
	return result.Err()
}

// fakeService fails with the failures one after the other, then succeeds. onCall runs first in every call.
type fakeService struct {
	facev1.UnimplementedFaceServiceServer
	onCall func(context.Context)

	failingService
	requests []*facev1.GetFaceVecRequest
	keys     []string
	// timesLeft has the time until the deadline of each request at its arrival.
	timesLeft []time.Duration
}

func (s *fakeService) GetFaceVec(
	ctx context.Context, request *facev1.GetFaceVecRequest,
) (*facev1.GetFaceVecResponse, error) {
	deadline, _ := ctx.Deadline()
	left := time.Until(deadline)
	if s.onCall != nil {
		s.onCall(ctx)
	}
	s.mutex.Lock()
	s.requests = append(s.requests, request)
	s.timesLeft = append(s.timesLeft, left)
	s.keys = append(s.keys, metadata.ValueFromIncomingContext(ctx, "authorization")...)
	s.mutex.Unlock()
	if err := s.fail(ctx); err != nil {
		return nil, err
	}
	_ = grpc.SetTrailer(ctx, metadata.Pairs("x-visage-model", "test-model"))
	return &facev1.GetFaceVecResponse{Data: &facev1.GetFaceVecData{Vector: make([]float32, 128)}}, nil
}

func (s *fakeService) register(server *grpc.Server) { facev1.RegisterFaceServiceServer(server, s) }

func (s *fakeService) count() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.requests)
}

// serve serves on an address of this machine until the test ends or stop is called. Returns the address.
func serve(
	t *testing.T, register func(*grpc.Server), address string, options ...grpc.ServerOption,
) (bound string, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(options...)
	register(server)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	stop = func() {
		server.Stop()
		<-done
	}
	t.Cleanup(stop)
	return listener.Addr().String(), stop
}

// open creates a client of a fake service. The test closes it.
func open(t *testing.T, service *fakeService, options Options) *Client {
	t.Helper()
	return openServer(t, service.register, options)
}

// openServer creates a client of the services that are registered. The test closes it.
func openServer(t *testing.T, register func(*grpc.Server), options Options) *Client {
	t.Helper()
	address, _ := serve(t, register, "127.0.0.1:0")
	return connect(t, "http://"+address, options)
}

func connect(t *testing.T, address string, options Options) *Client {
	t.Helper()
	options.APIKey = "key-of-tests"
	client, err := NewClient(address, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}
