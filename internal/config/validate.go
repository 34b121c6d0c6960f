package config

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Address is a parsed listen address.
type Address struct {
	// Network is "unix" or "tcp".
	Network string
	// Target is the socket's absolute path, or host:port.
	Target string
}

// replicaPattern keeps replica names out of the way of the dot that ends them
// in a run id.
var replicaPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,62}$`)

// Validate reports everything that is wrong with the settings, each with the
// flag to mend it. A start that would be open without authentication is
// refused here.
func (c *Config) Validate() error {
	var errs []error
	positive := c.positive()
	for _, name := range sortedNames(positive) {
		if positive[name] <= 0 {
			errs = append(errs, fmt.Errorf("%s must be above zero", describe(name)))
		}
	}
	if !replicaPattern.MatchString(c.Replica) {
		errs = append(errs, fmt.Errorf("%s: %q is no replica name; use letters, digits and dashes, at most 63", describe("replica"), c.Replica))
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.LogLevel) {
		errs = append(errs, fmt.Errorf("%s: %q is not one of debug, info, warn, error", describe("log_level"), c.LogLevel))
	}
	if !slices.Contains([]string{"json", "text"}, c.LogFormat) {
		errs = append(errs, fmt.Errorf("%s: %q is not one of json, text", describe("log_format"), c.LogFormat))
	}
	if c.MaxIdleTTL < c.IdleTTL {
		errs = append(errs, fmt.Errorf("%s (%s) is below %s (%s)", describe("max_idle_ttl"), c.MaxIdleTTL, describe("idle_ttl"), c.IdleTTL))
	}
	if _, err := c.AllowedUIDs(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(append(errs, c.validateListeners()...)...)
}

// AllowedUIDs parses allow_uid; nil when the setting is empty.
func (c *Config) AllowedUIDs() ([]uint32, error) {
	var uids []uint32
	for _, s := range c.AllowUID {
		uid, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is no numeric user id", describe("allow_uid"), s)
		}
		uids = append(uids, uint32(uid))
	}
	return uids, nil
}

func (c *Config) validateListeners() []error {
	var errs []error
	if len(c.Listen) == 0 {
		errs = append(errs, fmt.Errorf("%s: no address to serve on", describe("listen")))
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		errs = append(errs, fmt.Errorf("%s and %s go together", describe("tls_cert"), describe("tls_key")))
	}
	if c.ClientCA != "" && c.TLSCert == "" {
		errs = append(errs, fmt.Errorf("%s needs %s and %s", describe("client_ca"), describe("tls_cert"), describe("tls_key")))
	}
	if c.ClientCA != "" && c.TokenFile != "" {
		errs = append(errs, fmt.Errorf("%s and %s are two ways to know a caller; choose one", describe("token_file"), describe("client_ca")))
	}
	for _, listen := range c.Listen {
		address, err := ParseAddress(listen)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if err := c.checkExposure(address); err != nil {
			errs = append(errs, err)
		}
	}
	if c.MetricsListen != "" {
		if _, _, err := net.SplitHostPort(c.MetricsListen); err != nil {
			errs = append(errs, fmt.Errorf("%s: %q is not host:port", describe("metrics_listen"), c.MetricsListen))
		}
	}
	return errs
}

// checkExposure refuses a TCP address that anybody could use.
func (c *Config) checkExposure(address Address) error {
	if address.Network != "tcp" || c.TokenFile != "" || c.ClientCA != "" {
		return nil
	}
	if !isLoopback(address.Target) {
		return fmt.Errorf("%s tcp://%s would be open to the network without authentication: give %s, or mutual TLS with %s, %s and %s, or serve on a unix socket",
			describe("listen"), address.Target, describe("token_file"), describe("tls_cert"), describe("tls_key"), describe("client_ca"))
	}
	if !c.InsecureLoopback {
		return fmt.Errorf("%s tcp://%s would be open to every user of this machine: give %s, or say so with %s",
			describe("listen"), address.Target, describe("token_file"), describe("insecure_loopback"))
	}
	return nil
}

// isLoopback takes numeric loopback addresses only: what a name resolves to
// can change between this check and the bind.
func isLoopback(target string) bool {
	host, _, err := net.SplitHostPort(target)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// ParseAddress reads a listen address.
func ParseAddress(listen string) (Address, error) {
	if path, ok := strings.CutPrefix(listen, "unix://"); ok {
		if !filepath.IsAbs(path) {
			return Address{}, fmt.Errorf("%s: %q needs an absolute path: unix:///path/to/socket", describe("listen"), listen)
		}
		return Address{Network: "unix", Target: filepath.Clean(path)}, nil
	}
	if target, ok := strings.CutPrefix(listen, "tcp://"); ok {
		if _, _, err := net.SplitHostPort(target); err != nil {
			return Address{}, fmt.Errorf("%s: %q needs host:port: %w", describe("listen"), listen, err)
		}
		return Address{Network: "tcp", Target: target}, nil
	}
	return Address{}, fmt.Errorf("%s: %q is neither unix:///path/to/socket nor tcp://host:port", describe("listen"), listen)
}
