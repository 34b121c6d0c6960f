package server

import "github.com/toolsd/toolsd/gen/protoset"

// DescriptorSet returns the serialized descriptor set of the API, with its
// comments, as grpcurl's -protoset takes it. It must not be changed.
func DescriptorSet() []byte { return protoset.Bytes }
