package visage

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// waitLimit is how long a test waits for something that should happen.
const waitLimit = 30 * time.Second

var (
	noFace     = failure{code: codes.FailedPrecondition, reason: "NO_FACE"}
	draining   = failure{code: codes.Unavailable, reason: "DRAINING", retryable: true}
	overloaded = failure{code: codes.Unavailable, reason: "OVERLOADED", retryable: true}
	internal   = failure{code: codes.Internal, reason: "INTERNAL", retryable: true}
	photo      = Bytes([]byte("photo"))
)

func getFaceVec(client *Client) error {
	_, err := client.GetFaceVec(context.Background(), photo, nil)
	return err
}

func reasonOf(err error) string {
	var failure *Error
	if errors.As(err, &failure) {
		return failure.Reason
	}
	return ""
}

func expectReason(t *testing.T, err error, reason string) {
	t.Helper()
	if reasonOf(err) != reason {
		t.Fatalf("got %v, want %s", err, reason)
	}
}

func waitUntil(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitLimit); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the condition did not become true")
		}
	}
}

func (l *inFlightLimit) locked(read func() int) int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return read()
}

func TestReturnsATemplateWithItsModel(t *testing.T) {
	service := &fakeService{}
	template, err := open(t, service, Options{}).GetFaceVec(context.Background(), photo, nil)
	if err != nil || len(template.Embedding) != 128 || template.Model != "test-model" {
		t.Fatal(template, err)
	}
	if service.keys[0] != "Bearer key-of-tests" {
		t.Fatal(service.keys)
	}
}

func TestMapsTheDetailsOfAnError(t *testing.T) {
	service := &fakeService{failingService: failingService{failures: []failure{noFace}}}
	err := getFaceVec(open(t, service, Options{}))
	var failure *Error
	if !errors.As(err, &failure) {
		t.Fatal(err)
	}
	if failure.Reason != "NO_FACE" || failure.Code != "9999" || failure.Field != "img" || failure.Stage != "find" ||
		failure.Retryable || failure.RetryAfter != 0 || err.Error() != "visage: NO_FACE (img): Sorry." {
		t.Fatalf("%+v", failure)
	}
	if status.Code(err) != codes.FailedPrecondition {
		t.Fatal(status.Code(err))
	}
	if service.count() != 1 {
		t.Fatal(service.count())
	}
}

func TestRetries(t *testing.T) {
	slow := failure{
		code: codes.Unavailable, reason: "ACCOUNTS_UNAVAILABLE", retryable: true, retryAfter: 31 * time.Second,
	}
	quotaSpent := failure{code: codes.ResourceExhausted, reason: "QUOTA_SPENT", pushback: "-1"}
	forbidden := failure{code: codes.Unavailable, reason: "OVERLOADED", retryable: true, pushback: "-1"}
	for name, test := range map[string]struct {
		failures []failure
		retries  int
		requests int
		reason   string
	}{
		"three times by default":                   {[]failure{draining, draining, draining}, 0, 4, ""},
		"not four times by default":                {[]failure{draining, draining, draining, draining}, 0, 4, "DRAINING"},
		"as often as allowed":                      {[]failure{draining, draining}, 2, 3, ""},
		"not more often":                           {[]failure{draining, draining}, 1, 2, "DRAINING"},
		"not at all":                               {[]failure{draining}, NoRetries, 1, "DRAINING"},
		"a rejection until the deadline":           {[]failure{overloaded, overloaded, overloaded}, 1, 4, ""},
		"no rejection if retries are off":          {[]failure{overloaded}, NoRetries, 1, "OVERLOADED"},
		"an internal error once":                   {[]failure{internal, internal}, 5, 2, "INTERNAL"},
		"a stream that another party has reset":    {[]failure{{code: codes.Canceled}, {code: codes.Internal}}, 2, 3, ""},
		"a connection failure":                     {[]failure{{code: codes.Unavailable}}, 1, 2, ""},
		"nothing whose delay exceeds the deadline": {[]failure{slow}, 5, 1, "ACCOUNTS_UNAVAILABLE"},
		"no spent quota":                           {[]failure{quotaSpent}, 5, 1, "QUOTA_SPENT"},
		"nothing whose pushback is negative":       {[]failure{forbidden}, 5, 1, "OVERLOADED"},
	} {
		t.Run(name, func(t *testing.T) {
			service := &fakeService{failingService: failingService{failures: test.failures}}
			expectReason(t, getFaceVec(open(t, service, Options{Retries: test.retries})), test.reason)
			if service.count() != test.requests {
				t.Fatalf("got %d requests, want %d", service.count(), test.requests)
			}
		})
	}
}

func TestReconnectsToARestartedService(t *testing.T) {
	address, stop := serve(t, (&fakeService{}).register, "127.0.0.1:0")
	stop()
	client := connect(t, "http://"+address, Options{})
	client.retries = 0
	err := getFaceVec(client)
	expectReason(t, err, ReasonUnreachable)
	if !strings.Contains(err.Error(), "Cannot reach http://"+address) {
		t.Fatal(err)
	}
	serve(t, (&fakeService{}).register, address)
	// All retries come before gRPC would connect again by default.
	client.retries = defaultRetries
	expectReason(t, getFaceVec(client), "")
}

func TestReportsWhoEndedACall(t *testing.T) {
	started := make(chan struct{}, 10)
	service := &fakeService{onCall: func(ctx context.Context) {
		started <- struct{}{}
		<-ctx.Done()
	}}
	client := open(t, service, Options{})

	client.timeout = 10 * time.Millisecond
	err := getFaceVec(client)
	expectReason(t, err, ReasonDeadlinePassed)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}

	client.timeout = time.Hour
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err = client.GetFaceVec(ctx, photo, nil)
	expectReason(t, err, ReasonDeadlinePassed)

	<-started
	<-started
	ctx, cancel = context.WithCancel(context.Background())
	go func() {
		<-started
		cancel()
	}()
	_, err = client.GetFaceVec(ctx, photo, nil)
	expectReason(t, err, ReasonCancelled)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestLimitsTheCallsInFlight(t *testing.T) {
	var mutex sync.Mutex
	now, most := 0, 0
	service := &fakeService{onCall: func(context.Context) {
		mutex.Lock()
		now++
		most = max(most, now)
		mutex.Unlock()
		// Another call that could start would do so now.
		time.Sleep(2 * time.Millisecond)
		mutex.Lock()
		now--
		mutex.Unlock()
	}}
	client := open(t, service, Options{MaxInFlight: 3})
	inParallel(t, 100, func() error { return getFaceVec(client) })
	if most > 3 {
		t.Fatal(most)
	}
}

func TestLowersTheLimitWhileTheServiceRejectsCalls(t *testing.T) {
	// A service that can only take two calls at the same time.
	room := make(chan struct{}, 2)
	service := &fakeService{}
	service.onCall = func(context.Context) {
		select {
		case room <- struct{}{}:
			time.Sleep(2 * time.Millisecond)
			<-room
		default:
			service.mutex.Lock()
			service.failures = append(service.failures, overloaded)
			service.mutex.Unlock()
		}
	}
	client := open(t, service, Options{})
	inParallel(t, 100, func() error { return getFaceVec(client) })
	if limit := client.limit; limit.inFlight != 0 || limit.pauses != 0 || len(limit.waiters) != 0 {
		t.Fatalf("%+v", limit)
	}
}

func TestAWaitingCallNeitherReadsItsImageNorUsesItsTime(t *testing.T) {
	started, release := make(chan struct{}, 2), make(chan struct{})
	service := &fakeService{onCall: func(context.Context) {
		started <- struct{}{}
		<-release
	}}
	client := open(t, service, Options{MaxInFlight: 1})
	results := make(chan error, 2)
	go func() { results <- getFaceVec(client) }()
	<-started
	reader := &probe{Reader: strings.NewReader("photo")}
	go func() {
		_, err := client.GetFaceVec(context.Background(), Reader(reader), nil)
		results <- err
	}()
	waitUntil(t, func() bool {
		return client.limit.locked(func() int { return len(client.limit.waiters) }) == 1
	})
	if reader.isRead {
		t.Fatal("a waiting call has read its image")
	}
	// As long as a call waits, its deadline has not begun.
	time.Sleep(100 * time.Millisecond)
	close(release)
	for range 2 {
		expectReason(t, <-results, "")
	}
	if left := service.timesLeft[1]; left <= defaultTimeout-100*time.Millisecond {
		t.Fatal(left)
	}
}

func TestACancelledCallLeavesTheQueue(t *testing.T) {
	release := make(chan struct{})
	started := make(chan struct{}, 2)
	service := &fakeService{onCall: func(context.Context) {
		started <- struct{}{}
		<-release
	}}
	client := open(t, service, Options{MaxInFlight: 1})
	first := make(chan error, 1)
	go func() { first <- getFaceVec(client) }()
	<-started
	ctx, cancel := context.WithCancel(context.Background())
	second := make(chan error, 1)
	go func() {
		_, err := client.GetFaceVec(ctx, photo, nil)
		second <- err
	}()
	cancel()
	expectReason(t, <-second, ReasonCancelled)
	close(release)
	expectReason(t, <-first, "")
	expectReason(t, getFaceVec(client), "")
}

func TestCloseCancelsEveryCall(t *testing.T) {
	started := make(chan struct{}, 5)
	service := &fakeService{onCall: func(ctx context.Context) {
		started <- struct{}{}
		<-ctx.Done()
	}}
	client := open(t, service, Options{MaxInFlight: 1})
	results := make(chan error, 5)
	for range 5 {
		go func() { results <- getFaceVec(client) }()
	}
	<-started
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		expectReason(t, <-results, ReasonCancelled)
	}
	expectReason(t, getFaceVec(client), ReasonCancelled)
}

func TestCloseEndsTheWaitForARetry(t *testing.T) {
	rejection := overloaded
	rejection.retryAfter = time.Hour
	client := open(t, &fakeService{failingService: failingService{failures: []failure{rejection}}}, Options{Timeout: 3 * time.Hour})
	result := make(chan error, 1)
	go func() { result <- getFaceVec(client) }()
	waitUntil(t, func() bool { return client.limit.locked(func() int { return client.limit.pauses }) == 1 })
	_ = client.Close()
	expectReason(t, <-result, ReasonCancelled)
}

func TestReadsImages(t *testing.T) {
	service := &fakeService{}
	client := open(t, service, Options{})
	path := filepath.Join(t.TempDir(), "photo.jpg")
	if err := os.WriteFile(path, []byte("photo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, image := range []Image{photo, File(path), Reader(bytes.NewReader([]byte("photo"))), URL("https://example.org")} {
		if _, err := client.GetFaceVec(context.Background(), image, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, request := range service.requests[:3] {
		if string(request.GetImg().GetContent()) != "photo" {
			t.Fatal(request)
		}
	}
	if service.requests[3].GetImg().GetUrl() != "https://example.org" {
		t.Fatal(service.requests[3])
	}
}

func TestAnImageThatCannotBeReadFailsAsAnError(t *testing.T) {
	service := &fakeService{}
	client := open(t, service, Options{})
	ctx := context.Background()
	missing := File(filepath.Join(t.TempDir(), "missing.jpg"))
	_, err := client.GetFaceVec(ctx, missing, nil)
	expectReason(t, err, ReasonUnreadableImage)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "missing.jpg") {
		t.Fatal(err)
	}
	_, err = client.CompareFaces(ctx, Face{Image: photo}, Face{Image: missing}, nil)
	expectReason(t, err, ReasonUnreadableImage)
	_, err = client.GetFaceVec(ctx, Image{}, nil)
	expectReason(t, err, ReasonUnreadableImage)
	if service.count() != 0 {
		t.Fatal(service.count())
	}
}

func TestSendsOnlyTheOptionsThatAreGiven(t *testing.T) {
	service := &fakeService{}
	client := open(t, service, Options{})
	all := &VecOptions{Box: &Box{1, 2, 3, 4}, Quality: true, SkipDetection: true}
	for _, options := range []*VecOptions{nil, all} {
		if _, err := client.GetFaceVec(context.Background(), photo, options); err != nil {
			t.Fatal(err)
		}
	}
	if plain := service.requests[0]; plain.Bboxes != nil || plain.FaceDet != nil || plain.Quality {
		t.Fatal(plain)
	}
	if full := service.requests[1]; full.Bboxes.X2 != 3 || full.FaceDet == nil || *full.FaceDet || !full.Quality {
		t.Fatal(full)
	}
}

func TestRejectsOptionsThatCannotWork(t *testing.T) {
	for _, test := range []struct {
		address string
		options Options
	}{
		{"localhost:8080", Options{}},
		{"ftp://localhost", Options{}},
		{"http://localhost/api", Options{}},
		{"http://localhost:port", Options{}},
		{"http://localhost", Options{APIKey: "secret\n"}},
		{"http://localhost", Options{TLS: &tls.Config{MinVersion: tls.VersionTLS13}}},
		{"http://localhost", Options{Timeout: -1}},
		{"http://localhost", Options{MaxInFlight: -1}},
	} {
		if _, err := NewClient(test.address, test.options); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", test.address, err)
		}
	}
}

// inParallel runs calls at the same time and fails the test if one fails.
func inParallel(t *testing.T, calls int, run func() error) {
	t.Helper()
	results := make(chan error, calls)
	for range calls {
		go func() { results <- run() }()
	}
	for range calls {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

// probe is a reader that knows whether it was read.
type probe struct {
	*strings.Reader
	isRead bool
}

func (p *probe) Read(target []byte) (int, error) {
	p.isRead = true
	return p.Reader.Read(target)
}
