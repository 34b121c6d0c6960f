package server

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/toolsd/toolsd/gen/protoset"
	"github.com/toolsd/toolsd/internal/server/toolschema"
)

// protoComments reads the comments of the API from the embedded descriptor
// set: linked-in descriptors have none.
func protoComments() (toolschema.Comments, error) {
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(protoset.Bytes, set); err != nil {
		return nil, fmt.Errorf("read the embedded descriptor set: %w", err)
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, fmt.Errorf("link the embedded descriptor set: %w", err)
	}
	return func(name protoreflect.FullName) string {
		d, err := files.FindDescriptorByName(name)
		if err != nil {
			return ""
		}
		comment := d.ParentFile().SourceLocations().ByDescriptor(d).LeadingComments
		return strings.Join(strings.Fields(comment), " ")
	}, nil
}
