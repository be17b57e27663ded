package visage

import (
	"context"
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Reasons of errors without a response of the service.
const (
	ReasonUnreachable    = "UNREACHABLE"
	ReasonDeadlinePassed = "DEADLINE_PASSED"
	ReasonCancelled      = "CANCELLED"
	// ReasonUnreadableImage is the reason of an image that the client could not read.
	ReasonUnreadableImage = "UNREADABLE_IMAGE"
)

// Error is a failed call: an error of the service, or of the connection to it. It wraps the error of gRPC, and
// context.Canceled or context.DeadlineExceeded if that ended the call.
type Error struct {
	// Message is one sentence for people. It may change between versions of the service.
	Message string
	// Reason is the reason from the table of errors, such as NO_FACE. Without a response of the service it is
	// UNREACHABLE, DEADLINE_PASSED or CANCELLED, and UNREADABLE_IMAGE for an image that the client could not read.
	Reason string
	// Code is the code from the table of errors, such as 3001; empty without a response of the service.
	Code string
	// Field is the field of the request that caused the error, such as img_1 or gallery_id; empty if none did.
	Field string
	// Stage is the stage that failed, such as decode; empty without a response of the service.
	Stage string
	// Retryable is whether the same call may succeed later.
	Retryable bool
	// RetryAfter is the delay that the service asks for before a retry; 0 if it asks for none.
	RetryAfter time.Duration

	causes []error
}

func (e *Error) Error() string {
	if e.Field != "" {
		return "visage: " + e.Reason + " (" + e.Field + "): " + e.Message
	}
	return "visage: " + e.Reason + ": " + e.Message
}

// Unwrap returns the causes.
func (e *Error) Unwrap() []error { return e.causes }

// errorFromStatus converts the error of a gRPC call that the client has not cancelled.
func (c *Client) errorFromStatus(cause error) *Error {
	failure := status.Convert(cause)
	result := &Error{Message: failure.Message(), Reason: ReasonUnreachable, causes: []error{cause}}
	switch failure.Code() {
	case codes.DeadlineExceeded:
		result.Reason = ReasonDeadlinePassed
		result.Retryable = true
		result.causes = append(result.causes, context.DeadlineExceeded)
	// Canceled and Internal: another party has reset the stream.
	case codes.Unavailable, codes.Aborted, codes.Canceled, codes.Internal:
		result.Retryable = true
	}
	for _, detail := range failure.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			result.Reason = detail.GetReason()
			result.Code = detail.GetMetadata()["code"]
			result.Field = detail.GetMetadata()["field"]
			result.Stage = detail.GetMetadata()["stage"]
			result.Retryable = detail.GetMetadata()["retryable"] == "true"
		case *errdetails.RetryInfo:
			result.RetryAfter = detail.GetRetryDelay().AsDuration()
		}
	}
	if result.Reason == ReasonUnreachable {
		result.Message = "Cannot reach " + c.address + ": " + result.Message
	}
	return result
}

// errorFromContext converts the error of a context that is done.
func errorFromContext(ctx context.Context) *Error {
	cause := ctx.Err()
	if errors.Is(cause, context.DeadlineExceeded) {
		return &Error{
			Message: "The call took longer than its deadline.", Reason: ReasonDeadlinePassed, Retryable: true,
			causes: []error{cause},
		}
	}
	return &Error{Message: "The call was cancelled.", Reason: ReasonCancelled, causes: []error{cause}}
}

// errorFromImage converts the error of reading an image.
func errorFromImage(cause error) *Error {
	return &Error{Message: cause.Error(), Reason: ReasonUnreadableImage, causes: []error{cause}}
}

func errorFromClose() *Error {
	return &Error{Message: "The client is closed.", Reason: ReasonCancelled}
}
