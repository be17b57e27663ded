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

// call prepares a request and sends it, as run does.
func call[Request, Response any](
	ctx context.Context,
	client *Client,
	send func(context.Context, *Request, ...grpc.CallOption) (*Response, error),
	prepare func() (*Request, error),
	options ...grpc.CallOption,
) (response *Response, err error) {
	var request *Request
	err = client.run(ctx, client.newAttempts(), func() (err error) {
		request, err = prepare()
		return err
	}, func(ctx context.Context, trailer grpc.CallOption) (err error) {
		response, err = send(ctx, request, append(options, trailer)...)
		return err
	})
	return response, err
}

// run waits for a slot, prepares a call and sends it, with retries within the deadline.
func (c *Client) run(
	ctx context.Context,
	attempts *attempts,
	prepare func() error,
	send func(ctx context.Context, trailer grpc.CallOption) error,
) error {
	slot := c.limit.slot()
	defer slot.release()
	if !slot.acquire(ctx) {
		return c.endedBy(ctx)
	}
	attemptCtx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	if err := prepare(); err != nil {
		return err
	}
	for {
		var trailer metadata.MD
		err := send(attemptCtx, grpc.Trailer(&trailer))
		if err == nil {
			slot.accept()
			return nil
		}
		if ended := c.endedBy(ctx); ended != nil {
			return ended
		}
		failure := c.errorFromStatus(err)
		delay, ok := attempts.next(attemptCtx, failure, trailer)
		if !ok {
			return failure
		}
		hasSlot := true
		if isRejection(failure) {
			slot.reject(attemptCtx, delay)
			hasSlot = slot.acquire(attemptCtx)
		} else {
			c.limit.sleep(attemptCtx, delay)
		}
		if ended := c.endedBy(ctx); ended != nil {
			return ended
		}
		if !hasSlot {
			return failure
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
