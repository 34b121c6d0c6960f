package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
)

// TCPOptions are what a TCP listener demands. At least one of Tokens,
// ClientCA and Open must be set; config refuses other combinations before.
type TCPOptions struct {
	// Tokens are the bearer tokens that count; nil for none.
	Tokens *Tokens
	// CertFile and KeyFile turn TLS on.
	CertFile, KeyFile string
	// ClientCA turns mutual TLS on.
	ClientCA string
	// Open takes everybody; for loopback only.
	Open bool
}

// ListenTCP serves host:port.
func ListenTCP(address string, options TCPOptions) (net.Listener, error) {
	g, err := options.guard()
	if err != nil {
		return nil, fmt.Errorf("listen on tcp://%s: %w", address, err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", address) //nolint:forbidigo // nothing waits in a bind
	if err != nil {
		return nil, fmt.Errorf("listen on tcp://%s: %w", address, err)
	}
	return &guarded{Listener: listener, guard: g}, nil
}

func (o TCPOptions) guard() (guard, error) {
	var config *tls.Config
	if o.CertFile != "" {
		var err error
		if config, err = o.tlsConfig(); err != nil {
			return nil, err
		}
	}
	switch {
	case o.ClientCA != "" && config != nil:
		return certGuard{tls: config}, nil
	case o.Tokens != nil:
		return tokenGuard{tokens: o.Tokens, tls: config}, nil
	case o.Open:
		return openGuard{principal: "loopback"}, nil
	default:
		return nil, errors.New("no authentication is configured")
	}
}

func (o TCPOptions) tlsConfig() (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("load the certificate %s: %w", o.CertFile, err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13}
	if o.ClientCA == "" {
		return config, nil
	}
	pem, err := os.ReadFile(o.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("read the client authorities: %w", err)
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("client authorities %s: no certificate in PEM form", o.ClientCA)
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	return config, nil
}
