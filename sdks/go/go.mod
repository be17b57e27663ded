// The path of the module. The go_package options of proto/ begin with it. Releases are tagged sdks/go/vX.Y.Z.
module github.com/visage-face/visage/sdks/go

// The oldest supported Go. The requirements are minimums for it; a program may choose newer versions.
go 1.23.0

require (
	connectrpc.com/connect v1.18.1
	google.golang.org/genproto/googleapis/api v0.0.0-20250707201910-8d1bb00bc6a7
	google.golang.org/genproto/googleapis/rpc v0.0.0-20250707201910-8d1bb00bc6a7
	google.golang.org/grpc v1.75.1
	google.golang.org/protobuf v1.36.6
)

require (
	golang.org/x/net v0.41.0 // indirect
	golang.org/x/sys v0.33.0 // indirect
	golang.org/x/text v0.26.0 // indirect
)
