package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// setting is one field of Config, by its yaml name.
type setting struct {
	name  string
	help  string
	value reflect.Value
}

func settings(c *Config) []setting {
	v := reflect.ValueOf(c).Elem()
	out := make([]setting, 0, v.NumField())
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		out = append(out, setting{name: tag.Get("yaml"), help: tag.Get("help"), value: v.Field(i)})
	}
	return out
}

func flagName(setting string) string { return strings.ReplaceAll(setting, "_", "-") }

// EnvName is the variable of a setting.
func EnvName(setting string) string { return "TOOLSD_" + strings.ToUpper(setting) }

// configFlag is the one flag that is no setting.
const configFlag = "config"

// Loader binds settings to flags and puts the layers together once the flags
// are parsed.
type Loader struct {
	config Config
	flags  *pflag.FlagSet
	file   string
}

// NewLoader registers a flag for every setting, and --config.
func NewLoader(flags *pflag.FlagSet) *Loader {
	l := &Loader{config: Default(), flags: flags}
	flags.StringVar(&l.file, configFlag, "", "YAML file of settings; unknown keys are errors (TOOLSD_CONFIG)")
	for _, s := range settings(&l.config) {
		help := fmt.Sprintf("%s (%s)", s.help, EnvName(s.name))
		switch p := s.value.Addr().Interface().(type) {
		case *string:
			flags.StringVar(p, flagName(s.name), *p, help)
		case *[]string:
			flags.StringArrayVar(p, flagName(s.name), *p, help)
		case *bool:
			flags.BoolVar(p, flagName(s.name), *p, help)
		case *int:
			flags.IntVar(p, flagName(s.name), *p, help)
		case *int64:
			flags.Int64Var(p, flagName(s.name), *p, help)
		case *time.Duration:
			flags.DurationVar(p, flagName(s.name), *p, help)
		default:
			panic(fmt.Sprintf("config: setting %s has a type without a flag", s.name))
		}
	}
	return l
}

// Load puts the layers together and validates the result. lookup is
// os.LookupEnv, and environ os.Environ, outside tests: a TOOLSD_ variable
// that names no setting is an error, as an unknown key of the file is.
func (l *Loader) Load(lookup func(string) (string, bool), environ []string) (Config, error) {
	out := Default()
	if file, ok := lookup(EnvName(configFlag)); ok && l.file == "" {
		l.file = file
	}
	if l.file != "" {
		if err := readFile(l.file, &out); err != nil {
			return Config{}, err
		}
	}
	if err := applyEnv(&out, lookup, environ); err != nil {
		return Config{}, err
	}
	flagged := settings(&l.config)
	for i, s := range settings(&out) {
		if l.flags.Changed(flagName(s.name)) {
			s.value.Set(flagged[i].value)
		}
	}
	if err := out.Validate(); err != nil {
		return Config{}, err
	}
	return out, nil
}

func readFile(name string, into *Config) error {
	data, err := os.ReadFile(name) //nolint:gosec // the operator names the file
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	if err := ParseYAML(data, into); err != nil {
		return fmt.Errorf("read the configuration %s: %w", name, err)
	}
	return nil
}

// ParseYAML reads settings over those that into holds; unknown and repeated
// keys are errors, and so is a second document.
func ParseYAML(data []byte, into *Config) error {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("more than one YAML document")
	}
	return nil
}

func applyEnv(into *Config, lookup func(string) (string, bool), environ []string) error {
	known := map[string]bool{EnvName(configFlag): true}
	for _, s := range settings(into) {
		name := EnvName(s.name)
		known[name] = true
		text, ok := lookup(name)
		if !ok {
			continue
		}
		if err := parseInto(s.value, text); err != nil {
			return fmt.Errorf("%s=%q: %w", name, text, err)
		}
	}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "TOOLSD_") && !known[name] && !strings.HasPrefix(name, "TOOLSD_TEST_") {
			return fmt.Errorf("%s names no setting; \"toolsd config print\" lists them", name)
		}
	}
	return nil
}

// parseInto reads one variable. A list is split at commas.
func parseInto(value reflect.Value, text string) error {
	switch p := value.Addr().Interface().(type) {
	case *string:
		*p = text
	case *[]string:
		*p = strings.Split(text, ",")
	case *bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("is neither true nor false")
		}
		*p = b
	case *time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return errors.New("is no duration; write it as 30s, 5m or 1h")
		}
		*p = d
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return errors.New("is no whole number")
		}
		*p = n
	case *int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return errors.New("is no whole number")
		}
		*p = n
	}
	return nil
}

// Print writes the settings as a YAML file that Load accepts, each with its
// help and its variable.
func (c *Config) Print(w io.Writer) error {
	for _, s := range settings(c) {
		value, err := yaml.Marshal(map[string]any{s.name: s.value.Interface()})
		if err != nil {
			return fmt.Errorf("print setting %s: %w", s.name, err)
		}
		if _, err := fmt.Fprintf(w, "# %s (%s, --%s)\n%s\n", s.help, EnvName(s.name), flagName(s.name), value); err != nil {
			return fmt.Errorf("print setting %s: %w", s.name, err)
		}
	}
	return nil
}

func sortedNames(m map[string]int64) []string { return slices.Sorted(maps.Keys(m)) }
