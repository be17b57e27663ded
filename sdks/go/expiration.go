package visage

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Expiration is when a person or a gallery is deleted. The first field that is set counts. If none is, what exists keeps
// its time.
type Expiration struct {
	// ExpireTime is a time in the future.
	ExpireTime time.Time
	// TTL is the time from now.
	TTL time.Duration
	// NeverExpires keeps the person or the gallery without an end.
	NeverExpires bool
}

// set sets the field of a request with an expiration, if there is a time.
func (e Expiration) set(request proto.Message) {
	switch {
	case !e.ExpireTime.IsZero():
		setField(request, "expire_time", timestamppb.New(e.ExpireTime))
	case e.TTL != 0 || e.NeverExpires:
		setField(request, "ttl", durationpb.New(e.TTL))
	}
}

func setField(request proto.Message, name protoreflect.Name, value proto.Message) {
	message := request.ProtoReflect()
	message.Set(message.Descriptor().Fields().ByName(name), protoreflect.ValueOfMessage(value.ProtoReflect()))
}
