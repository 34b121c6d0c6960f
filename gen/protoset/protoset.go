// Package protoset holds the descriptor set of the API, with its comments. Both
// it and the generated code come from proto/ by `make generate`; this file alone
// is written by hand.
package protoset

import _ "embed"

// Bytes is a serialized google.protobuf.FileDescriptorSet of toolsd.v1 and all
// that it imports, with source info, as grpcurl's -protoset takes it. It must
// not be modified.
//
//go:embed toolsd.binpb
var Bytes []byte
