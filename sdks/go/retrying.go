package visage

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// retryingConnection makes the calls of a generated client follow the rules of the Client: its limit, deadline, retries
// and errors. Streams are opened as they are.
type retryingConnection struct {
	grpc.ClientConnInterface
	client *Client
}

// Invoke implements grpc.ClientConnInterface.
func (r retryingConnection) Invoke(
	ctx context.Context, method string, request, response any, options ...grpc.CallOption,
) error {
	attempts := r.client.newAttempts()
	attempts.isNotIdempotent = !isIdempotent(method)
	isDeletion := strings.Contains(method, "/Delete")
	mayBeDone := false
	return r.client.run(ctx, attempts, func() error { return nil }, func(ctx context.Context, trailer grpc.CallOption) error {
		err := r.ClientConnInterface.Invoke(ctx, method, request, response, append(options, trailer)...)
		if err == nil || !isDeletion {
			return err
		}
		// If the first response was lost, there is nothing to delete the second time.
		failure := r.client.errorFromStatus(err)
		if mayBeDone && strings.HasSuffix(failure.Reason, "_NOT_FOUND") {
			return nil
		}
		mayBeDone = mayBeDone || !isRejection(failure)
		return err
	})
}

// isIdempotent returns whether the proto declares that a method may be called twice.
func isIdempotent(method string) bool {
	name := strings.ReplaceAll(strings.TrimPrefix(method, "/"), "/", ".")
	descriptor, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return false
	}
	options, _ := descriptor.Options().(*descriptorpb.MethodOptions)
	return options.GetIdempotencyLevel() == descriptorpb.MethodOptions_IDEMPOTENT
}
