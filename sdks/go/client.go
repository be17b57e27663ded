// Package visage calls a Visage service over gRPC. It reads images, retries as the service asks within one deadline,
// limits the calls in flight, and returns one error type.
//
// MatchFaces, GetImageAttr and GetFaceVec call the original API, face/v1. The other methods call the typed API and return
// the messages of the package visage/v1. The generated packages have the clients of grpc-go and
// connect-go, too.
package visage

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	facev1 "github.com/visage-face/visage/sdks/go/face/v1"
	visagev1 "github.com/visage-face/visage/sdks/go/visage/v1"
)

const (
	defaultTimeout     = 30 * time.Second
	defaultRetries     = 3
	defaultMaxInFlight = 32
)

// NoRetries is the value of Options.Retries that turns retries off.
const NoRetries = -1

// Options of a client. The zero value of each field is its default.
type Options struct {
	// APIKey is the key of the user. It is empty if a client certificate identifies the user.
	APIKey string
	// Timeout is the deadline of a call including its retries. Default: 30 seconds. An earlier deadline of the context
	// wins.
	Timeout time.Duration
	// Retries is how often a call with a retryable error is retried. INTERNAL is retried once at most. Calls that the
	// service rejects because of load are retried until the deadline. Default: 3. NoRetries turns all of it off.
	Retries int
	// MaxInFlight is the most calls at the same time. Further calls wait, which does not count against Timeout. The
	// client lowers the limit while the service rejects calls because of load. A stream has as many images without a
	// result at most, besides the calls. Default: 32.
	MaxInFlight int
	// TLS has the CA and the client certificate for an https address. Default: the certificates of the system.
	TLS *tls.Config
}

// Client calls the service. Create one and share it: goroutines may call it at the same time. It connects on first use
// and reconnects when the connection is lost. Calls return *Error.
type Client struct {
	address     string
	connection  *grpc.ClientConn
	raw         facev1.FaceServiceClient
	rawAnalysis visagev1.FaceAnalysisServiceClient
	galleries   *Galleries
	account     visagev1.AccountServiceClient
	admin       visagev1.AdminServiceClient
	timeout     time.Duration
	retries     int
	maxInFlight int
	limit       *inFlightLimit
}

// NewClient creates a client for the URL of a service, such as http://localhost:8080. https uses TLS. It does not
// connect yet. Close the client after use.
func NewClient(address string, options Options) (*Client, error) {
	if options.Timeout < 0 || options.MaxInFlight < 0 {
		return nil, errors.New("visage: Timeout and MaxInFlight must not be negative")
	}
	target, err := targetFromAddress(address)
	if err != nil {
		return nil, err
	}
	transport := insecure.NewCredentials()
	if strings.HasPrefix(address, "https:") {
		transport = credentials.NewTLS(options.TLS)
	} else if options.TLS != nil {
		return nil, errors.New("visage: Options.TLS needs an address that starts with https://")
	}
	withKey, err := keyAdder(options.APIKey)
	if err != nil {
		return nil, err
	}
	connection, err := grpc.NewClient(
		target,
		grpc.WithTransportCredentials(transport),
		grpc.WithUnaryInterceptor(func(
			ctx context.Context, method string, request, response any,
			connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
		) error {
			return invoke(withKey(ctx), method, request, response, connection, options...)
		}),
		grpc.WithStreamInterceptor(func(
			ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn,
			method string, open grpc.Streamer, options ...grpc.CallOption,
		) (grpc.ClientStream, error) {
			return open(withKey(ctx), description, connection, method, options...)
		}),
		// The client retries by itself; a retry policy from DNS would multiply the attempts. gRPC still repeats calls that
		// the service has not seen.
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableRetry(),
		// By default gRPC waits up to two minutes before it connects to a restarted service, and calls fail meanwhile.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 20 * time.Second,
		}),
	)
	if err != nil {
		return nil, err
	}
	maxInFlight := orDefault(options.MaxInFlight, defaultMaxInFlight)
	client := &Client{
		address:     address,
		connection:  connection,
		raw:         facev1.NewFaceServiceClient(connection),
		rawAnalysis: visagev1.NewFaceAnalysisServiceClient(connection),
		timeout:     orDefault(options.Timeout, defaultTimeout),
		retries:     max(0, orDefault(options.Retries, defaultRetries)),
		maxInFlight: maxInFlight,
		limit:       newInFlightLimit(maxInFlight),
	}
	retrying := retryingConnection{connection, client}
	client.galleries = &Galleries{
		client: client, raw: visagev1.NewGalleryServiceClient(connection), calls: visagev1.NewGalleryServiceClient(retrying),
	}
	client.account = visagev1.NewAccountServiceClient(retrying)
	client.admin = visagev1.NewAdminServiceClient(retrying)
	return client, nil
}

// Galleries enrols people and identifies faces.
func (c *Client) Galleries() *Galleries { return c.galleries }

// Account shows the plan, the usage and the keys of the user, and replaces keys. It is the generated client, and its
// calls follow the rules of all others. CreateKey is only retried if the service has rejected it because of load.
func (c *Client) Account() visagev1.AccountServiceClient { return c.account }

// Admin manages the users and plans of the service, like Account. Options.APIKey must be the admin key. Calls
// that create something, and UpdateUser, are only retried if the service has rejected them because of load.
func (c *Client) Admin() visagev1.AdminServiceClient { return c.admin }

// Raw returns the generated client of face.v1 for everything else. It sends the API key but does not retry.
func (c *Client) Raw() facev1.FaceServiceClient { return c.raw }

// RawAnalysis returns the generated client of visage.v1, like Raw.
func (c *Client) RawAnalysis() visagev1.FaceAnalysisServiceClient { return c.rawAnalysis }

// Close closes the connection and cancels all calls. They return an Error with the reason CANCELLED.
func (c *Client) Close() error {
	c.limit.close()
	return c.connection.Close()
}

// targetFromAddress returns the target of gRPC for an http or https URL.
func targetFromAddress(address string) (string, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Hostname() == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return "", errors.New("visage: the address must be a URL such as http://localhost:8080 or https://faces.example.org")
	}
	if strings.Trim(parsed.Path, "/") != "" || parsed.RawQuery != "" || parsed.Fragment != "" || parsed.User != nil {
		return "", errors.New("visage: the address must have no path, query or user name")
	}
	port := parsed.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[parsed.Scheme]
	}
	return "dns:///" + net.JoinHostPort(parsed.Hostname(), port), nil
}

// keyAdder returns a function that adds the key to the metadata of a call.
func keyAdder(key string) (func(context.Context) context.Context, error) {
	isPrintable := func(character rune) bool { return character > ' ' && character <= '~' }
	if strings.ContainsFunc(key, func(character rune) bool { return !isPrintable(character) }) {
		// Most often it was read from a file and ends with a line break. The message must not contain the key.
		return nil, errors.New("visage: the API key must be ASCII text without spaces and line breaks")
	}
	return func(ctx context.Context) context.Context {
		if key == "" {
			return ctx
		}
		return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+key)
	}, nil
}

func orDefault[T comparable](value, standard T) T {
	var zero T
	if value == zero {
		return standard
	}
	return value
}
