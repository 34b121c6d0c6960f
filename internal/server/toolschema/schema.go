// Package toolschema derives what a model sees of a tool from the request
// message of the RPC behind it: the JSON Schema of its arguments, and the
// decoding of the arguments that the model wrote. Nothing about a tool's
// arguments is kept by hand beside the protos (design.md section 3).
//
// It leaves alone which tools exist and what they do; that is package server.
package toolschema

import (
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
)

// runField is the one request field that is never an argument: the harness
// names the run, not the model.
const runField protoreflect.Name = "run_id"

// Comments gives the leading comment of a descriptor. Descriptors that are
// linked into the program carry none; package protoset has them.
type Comments func(protoreflect.FullName) string

// schema is the part of JSON Schema (draft 2020-12) that arguments need.
type schema struct {
	Type                 string             `json:"type"`
	Description          string             `json:"description,omitempty"`
	Enum                 []string           `json:"enum,omitempty"`
	Minimum              *int64             `json:"minimum,omitempty"`
	Maximum              *int64             `json:"maximum,omitempty"`
	Items                *schema            `json:"items,omitempty"`
	Properties           *properties        `json:"properties,omitempty"`
	Required             []string           `json:"required,omitempty"`
	AdditionalProperties *additionalSchemas `json:"additionalProperties,omitempty"`
}

// additionalSchemas is either false (an object of known fields) or the schema
// of a map's values.
type additionalSchemas struct{ values *schema }

// MarshalJSON writes false or the schema.
func (a *additionalSchemas) MarshalJSON() ([]byte, error) {
	if a.values == nil {
		return []byte("false"), nil
	}
	return json.Marshal(a.values)
}

// properties keeps the order of the proto fields: a model reads the important
// argument first.
type properties struct {
	names   []string
	schemas map[string]*schema
}

// MarshalJSON writes the properties in order.
func (p *properties) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range p.names {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := json.Marshal(p.schemas[name])
		if err != nil {
			return nil, fmt.Errorf("marshal the schema of %q: %w", name, err)
		}
		fmt.Fprintf(&b, "%q:%s", name, value)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}

// JSON returns the JSON Schema of a request message's arguments.
func JSON(message protoreflect.MessageDescriptor, comments Comments) (string, error) {
	root, err := object(message, comments)
	if err != nil {
		return "", fmt.Errorf("derive the schema of %s: %w", message.FullName(), err)
	}
	out, err := json.Marshal(root)
	if err != nil {
		return "", fmt.Errorf("marshal the schema of %s: %w", message.FullName(), err)
	}
	return string(out), nil
}

func object(message protoreflect.MessageDescriptor, comments Comments) (*schema, error) {
	s := &schema{
		Type:                 "object",
		Properties:           &properties{schemas: map[string]*schema{}},
		AdditionalProperties: &additionalSchemas{},
	}
	for _, field := range arguments(message) {
		name := string(field.Name())
		fieldSchema, err := ofField(field, comments)
		if err != nil {
			return nil, err
		}
		s.Properties.names = append(s.Properties.names, name)
		s.Properties.schemas[name] = fieldSchema
		if option(field).GetRequired() {
			s.Required = append(s.Required, name)
		}
	}
	return s, nil
}

func ofField(field protoreflect.FieldDescriptor, comments Comments) (*schema, error) {
	var s *schema
	var err error
	switch {
	case field.IsMap():
		var values *schema
		values, err = ofValue(field.MapValue(), comments)
		s = &schema{Type: "object", AdditionalProperties: &additionalSchemas{values: values}}
	case field.IsList():
		var items *schema
		items, err = ofValue(field, comments)
		s = &schema{Type: "array", Items: items}
	default:
		s, err = ofValue(field, comments)
	}
	if err != nil {
		return nil, err
	}
	s.Description = comments(field.FullName())
	s.Minimum = option(field).Minimum
	s.Maximum = option(field).Maximum
	return s, nil
}

func ofValue(field protoreflect.FieldDescriptor, comments Comments) (*schema, error) {
	switch field.Kind() {
	case protoreflect.StringKind:
		return &schema{Type: "string"}, nil
	case protoreflect.BoolKind:
		return &schema{Type: "boolean"}, nil
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		return &schema{Type: "integer"}, nil
	case protoreflect.EnumKind:
		return &schema{Type: "string", Enum: enumNames(field.Enum())}, nil
	case protoreflect.MessageKind:
		return object(field.Message(), comments)
	default:
		return nil, fmt.Errorf("field %s: no JSON Schema for kind %s", field.FullName(), field.Kind())
	}
}

// arguments are the fields of a message that a model may give.
func arguments(message protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	var out []protoreflect.FieldDescriptor
	fields := message.Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if field.Name() == runField || option(field).GetHidden() {
			continue
		}
		out = append(out, field)
	}
	return out
}

// option is the field's (toolsd.v1.argument), never nil.
func option(field protoreflect.FieldDescriptor) *toolsdv1.Argument {
	argument, ok := proto.GetExtension(field.Options(), toolsdv1.E_Argument).(*toolsdv1.Argument)
	if !ok || argument == nil {
		return &toolsdv1.Argument{}
	}
	return argument
}

// enumNames are an enum's values as a model writes them: without the prefix
// that protobuf's style demands, in lower case, and without the zero value.
func enumNames(enum protoreflect.EnumDescriptor) []string {
	var out []string
	values := enum.Values()
	for i := range values.Len() {
		if values.Get(i).Number() != 0 {
			out = append(out, enumName(enum, values.Get(i)))
		}
	}
	return out
}

func enumName(enum protoreflect.EnumDescriptor, value protoreflect.EnumValueDescriptor) string {
	zero := string(enum.Values().ByNumber(0).Name())
	prefix := strings.TrimSuffix(zero, "UNSPECIFIED")
	return strings.ToLower(strings.TrimPrefix(string(value.Name()), prefix))
}
