package toolschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// Decode reads the arguments that a model wrote into a request message; the
// message's run id is left as it is. Everything that is wrong is named at
// once, in a toolerr of kind InvalidArgument: not JSON, unknown names, missing
// ones, wrong types, values out of range. null counts as not given.
func Decode(argumentsJSON string, into proto.Message) error {
	values, err := parseObject(argumentsJSON)
	if err != nil {
		return err
	}
	d := &decoder{}
	d.message("", values, into.ProtoReflect())
	if len(d.violations) > 0 {
		return toolerr.BadArguments(d.violations...)
	}
	return nil
}

func parseObject(text string) (map[string]any, error) {
	if strings.TrimSpace(text) == "" {
		return map[string]any{}, nil
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, toolerr.BadArgument("arguments_json",
			"not valid JSON (%v); send the arguments as one JSON object", err).WithCause(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, toolerr.BadArgument("arguments_json",
			"something follows the JSON value; send exactly one JSON object")
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, toolerr.BadArgument("arguments_json",
			"is %s; send the arguments as one JSON object", describe(value))
	}
	return object, nil
}

// decoder walks a request message beside the model's values and collects
// what does not fit.
type decoder struct {
	violations []toolerr.Violation
}

func (d *decoder) reject(path, format string, args ...any) {
	d.violations = append(d.violations, toolerr.Violation{Field: path, Description: fmt.Sprintf(format, args...)})
}

func (d *decoder) message(path string, values map[string]any, into protoreflect.Message) {
	fields := arguments(into.Descriptor())
	known := make([]string, len(fields))
	for i, field := range fields {
		known[i] = string(field.Name())
	}
	for _, name := range sortedKeys(values) {
		if !slices.Contains(known, name) {
			d.reject(join(path, name), "no such argument; known are: %s", strings.Join(known, ", "))
		}
	}
	for _, field := range fields {
		name := string(field.Name())
		value, given := values[name]
		if !given || value == nil {
			if option(field).GetRequired() {
				d.reject(join(path, name), "is required")
			}
			continue
		}
		d.field(join(path, name), field, value, into)
	}
}

func (d *decoder) field(path string, field protoreflect.FieldDescriptor, value any, into protoreflect.Message) {
	switch {
	case field.IsMap():
		d.mapField(path, field, value, into)
	case field.IsList():
		d.listField(path, field, value, into)
	case field.Kind() == protoreflect.MessageKind:
		d.messageValue(path, value, into.Mutable(field).Message())
	default:
		if v, ok := d.scalar(path, field, value); ok {
			into.Set(field, v)
		}
	}
}

func (d *decoder) messageValue(path string, value any, into protoreflect.Message) {
	object, ok := value.(map[string]any)
	if !ok {
		d.reject(path, "must be an object, got %s", describe(value))
		return
	}
	d.message(path, object, into)
}

func (d *decoder) listField(path string, field protoreflect.FieldDescriptor, value any, into protoreflect.Message) {
	items, ok := value.([]any)
	if !ok {
		d.reject(path, "must be an array, got %s", describe(value))
		return
	}
	list := into.Mutable(field).List()
	for i, item := range items {
		itemPath := fmt.Sprintf("%s[%d]", path, i)
		if field.Kind() == protoreflect.MessageKind {
			d.messageValue(itemPath, item, list.AppendMutable().Message())
			continue
		}
		if v, ok := d.scalar(itemPath, field, item); ok {
			list.Append(v)
		}
	}
}

func (d *decoder) mapField(path string, field protoreflect.FieldDescriptor, value any, into protoreflect.Message) {
	object, ok := value.(map[string]any)
	if !ok {
		d.reject(path, "must be an object, got %s", describe(value))
		return
	}
	for _, key := range sortedKeys(object) {
		if v, ok := d.scalar(join(path, key), field.MapValue(), object[key]); ok {
			into.Mutable(field).Map().Set(protoreflect.ValueOfString(key).MapKey(), v)
		}
	}
}

func (d *decoder) scalar(path string, field protoreflect.FieldDescriptor, value any) (protoreflect.Value, bool) {
	switch field.Kind() {
	case protoreflect.StringKind:
		if s, ok := value.(string); ok {
			return protoreflect.ValueOfString(s), true
		}
		d.reject(path, "must be a string, got %s", describe(value))
	case protoreflect.BoolKind:
		if b, ok := value.(bool); ok {
			return protoreflect.ValueOfBool(b), true
		}
		d.reject(path, "must be true or false, got %s", describe(value))
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		return d.integer(path, field, value)
	case protoreflect.EnumKind:
		return d.enum(path, field.Enum(), value)
	default:
		d.reject(path, "cannot be given here")
	}
	return protoreflect.Value{}, false
}

func (d *decoder) integer(path string, field protoreflect.FieldDescriptor, value any) (protoreflect.Value, bool) {
	number, ok := value.(json.Number)
	if !ok {
		d.reject(path, "must be an integer, got %s", describe(value))
		return protoreflect.Value{}, false
	}
	n, ok := wholeNumber(number)
	if !ok {
		d.reject(path, "must be an integer, got %s", number)
		return protoreflect.Value{}, false
	}
	low, high := bounds(field)
	if n < low || n > high {
		d.reject(path, "must be %s, got %d", rangeText(low, high), n)
		return protoreflect.Value{}, false
	}
	if field.Kind() == protoreflect.Int32Kind {
		return protoreflect.ValueOfInt32(int32(n)), true //nolint:gosec // bounds keeps an int32 field within 32 bits
	}
	return protoreflect.ValueOfInt64(n), true
}

// wholeNumber takes 3 and also 3.0, which some models write.
func wholeNumber(number json.Number) (int64, bool) {
	if n, err := strconv.ParseInt(number.String(), 10, 64); err == nil {
		return n, true
	}
	f, err := number.Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

func bounds(field protoreflect.FieldDescriptor) (low, high int64) {
	low, high = math.MinInt64, math.MaxInt64
	if field.Kind() == protoreflect.Int32Kind {
		low, high = math.MinInt32, math.MaxInt32
	}
	argument := option(field)
	if argument.Minimum != nil {
		low = argument.GetMinimum()
	}
	if argument.Maximum != nil {
		high = argument.GetMaximum()
	}
	return low, high
}

func rangeText(low, high int64) string {
	if high >= math.MaxInt32 {
		return fmt.Sprintf("at least %d", low)
	}
	return fmt.Sprintf("between %d and %d", low, high)
}

func (d *decoder) enum(path string, enum protoreflect.EnumDescriptor, value any) (protoreflect.Value, bool) {
	name, isString := value.(string)
	values := enum.Values()
	for i := range values.Len() {
		candidate := values.Get(i)
		if isString && candidate.Number() != 0 && enumName(enum, candidate) == name {
			return protoreflect.ValueOfEnum(candidate.Number()), true
		}
	}
	d.reject(path, "must be one of %s, got %s", strings.Join(enumNames(enum), ", "), describe(value))
	return protoreflect.Value{}, false
}

// describe names a JSON value for an error message, short whatever it holds.
func describe(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		if len(v) > 40 {
			return fmt.Sprintf("a string of %d bytes", len(v))
		}
		return fmt.Sprintf("the string %q", v)
	case json.Number:
		return "the number " + v.String()
	case bool:
		return strconv.FormatBool(v)
	case []any:
		return "an array"
	default:
		return "an object"
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
