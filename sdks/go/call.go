package visage

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

const (
	// initialDelay is the first delay of the exponential backoff, if the service does not ask for a longer one.
	initialDelay = 100 * time.Millisecond
	// maxDelay is the longest delay of the exponential backoff.
	maxDelay = time.Second
	// jitter is the fraction by which delays are extended at most, at random, so that rejected clients do not retry at
	// the same time.
	jitter = 0.5
	// pushback is the trailer that forbids retries if it is negative (gRFC A6).
	pushback = "grpc-retry-pushback-ms"
)

// rejections are errors without any work. The service asks for patience, so the call is retried until its deadline.
var rejections = []string{"OVERLOADED", "TOO_MANY_REQUESTS", "TOO_MANY_IN_FLIGHT"}

// call waits for a slot, prepares the request and sends it, with retries within the deadline.
func call[Request, Response any](
	ctx context.Context,
	client *Client,
	send func(context.Context, *Request, ...grpc.CallOption) (*Response, error),
	prepare func() (*Request, error),
	options ...grpc.CallOption,
) (*Response, error) {
	return run(ctx, client, client.newAttempts(), send, prepare, options...)
}

// run is call with the attempts of the caller.
func run[Request, Response any](
	ctx context.Context,
	client *Client,
	attempts *attempts,
	send func(context.Context, *Request, ...grpc.CallOption) (*Response, error),
	prepare func() (*Request, error),
	options ...grpc.CallOption,
) (*Response, error) {
	slot := client.limit.slot()
	defer slot.release()
	if !slot.acquire(ctx) {
		return nil, client.endedBy(ctx)
	}
	attemptCtx, cancel := context.WithTimeout(ctx, client.timeout)
	defer cancel()
	request, err := prepare()
	if err != nil {
		return nil, err
	}
	for {
		var trailer metadata.MD
		response, err := send(attemptCtx, request, append(options, grpc.Trailer(&trailer))...)
		if err == nil {
			slot.accept()
			return response, nil
		}
		if ended := client.endedBy(ctx); ended != nil {
			return nil, ended
		}
		failure := errorFromStatus(err)
		delay, ok := attempts.next(attemptCtx, failure, trailer)
		if !ok {
			return nil, failure
		}
		hasSlot := true
		if isRejection(failure) {
			slot.reject(attemptCtx, delay)
			hasSlot = slot.acquire(attemptCtx)
		} else {
			client.limit.sleep(attemptCtx, delay)
		}
		if ended := client.endedBy(ctx); ended != nil {
			return nil, ended
		}
		if !hasSlot {
			return nil, failure
		}
	}
}

// endedBy returns the error of a call that its context or the end of the client has cancelled; nil otherwise.
func (c *Client) endedBy(ctx context.Context) error {
	if ctx.Err() != nil {
		return errorFromContext(ctx)
	}
	if c.limit.isClosed() {
		return errorFromClose()
	}
	return nil
}

// attempts are the attempts of one call.
type attempts struct {
	client *Client
	// isNotIdempotent is whether the call is only repeated if the service has rejected it without any work, because
	// otherwise it may have succeeded.
	isNotIdempotent  bool
	retriesLeft      int
	delay            time.Duration
	hadInternalError bool
}

func (c *Client) newAttempts() *attempts {
	return &attempts{client: c, retriesLeft: c.retries, delay: initialDelay}
}

// next returns the delay before the next attempt, and false if there is none.
func (a *attempts) next(ctx context.Context, failure *Error, trailer metadata.MD) (time.Duration, bool) {
	delay, retriesLeft := max(failure.RetryAfter, a.delay), a.retriesLeft
	if isRejection(failure) {
		// The limit of calls in flight is the backoff.
		delay, retriesLeft = max(failure.RetryAfter, initialDelay), a.client.retries
	} else {
		a.retriesLeft--
		a.delay = min(maxDelay, 2*a.delay)
	}
	delay += time.Duration(jitter * rand.Float64() * float64(delay))
	deadline, _ := ctx.Deadline()
	// A request that causes two internal errors is likely to be the cause.
	isInternal := failure.Reason == "INTERNAL"
	mayHaveSucceeded := a.isNotIdempotent && !isRejection(failure)
	if !failure.Retryable || mayHaveSucceeded || forbidsRetry(trailer) || retriesLeft <= 0 ||
		(isInternal && a.hadInternalError) || !time.Now().Add(delay).Before(deadline) {
		return 0, false
	}
	a.hadInternalError = a.hadInternalError || isInternal
	return delay, true
}

func isRejection(failure *Error) bool { return slices.Contains(rejections, failure.Reason) }

func forbidsRetry(trailer metadata.MD) bool {
	return slices.ContainsFunc(trailer.Get(pushback), func(value string) bool { return strings.HasPrefix(value, "-") })
}
