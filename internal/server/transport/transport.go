// Package transport owns who may connect: listeners, what each demands of a
// caller, and the name (principal) that a caller is then known by
// (design.md section 7).
//
// A unix socket is checked by the peer's user id (SO_PEERCRED); TCP by mutual
// TLS, by a bearer token, or, on loopback and by an explicit setting, not at
// all. What a principal may do is the business of package server.
package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// ErrUnauthenticated is what every caller without credentials that count gets.
// It does not say which part was wrong.
var ErrUnauthenticated = toolerr.New(toolerr.Unauthenticated, toolerr.ReasonUnauthenticated,
	"no valid credentials: on TCP send the header \"authorization: Bearer <token>\" or a client certificate; a unix socket takes the user ids that --allow-uid names")

// guard is what a listener demands of a connection.
type guard interface {
	// handshake returns the connection to speak gRPC on, and who is at its end.
	handshake(net.Conn) (net.Conn, identity, error)
}

// identity is what the handshake learned. It is an AuthInfo of gRPC.
type identity struct {
	credentials.CommonAuthInfo
	// principal is known already (unix, mutual TLS, open loopback), or empty.
	principal string
	// tokens, when not nil, demands a bearer token with every call.
	tokens *Tokens
}

// AuthType names the scheme to gRPC.
func (identity) AuthType() string { return "toolsd" }

// Principal returns who the caller of a request is.
func Principal(ctx context.Context) (string, error) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return "", ErrUnauthenticated
	}
	id, ok := p.AuthInfo.(identity)
	if !ok {
		return "", ErrUnauthenticated
	}
	if id.principal != "" {
		return id.principal, nil
	}
	if id.tokens == nil {
		return "", ErrUnauthenticated
	}
	md, _ := metadata.FromIncomingContext(ctx)
	principal, ok := id.tokens.lookup(md.Get("authorization"))
	if !ok {
		return "", ErrUnauthenticated
	}
	return principal, nil
}

// guarded gives each accepted connection its listener's guard, so that one
// gRPC server can serve listeners of different kinds.
type guarded struct {
	net.Listener
	guard guard
}

// Accept returns the next connection with its guard.
func (l *guarded) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &guardedConn{Conn: conn, guard: l.guard}, nil
}

type guardedConn struct {
	net.Conn
	guard guard
}

// Credentials returns the gRPC credentials that apply each listener's guard.
// A connection that came from no listener of this package is refused.
func Credentials() credentials.TransportCredentials { return serverCredentials{} }

type serverCredentials struct{}

// ServerHandshake applies the guard of the connection's listener.
func (serverCredentials) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	g, ok := conn.(*guardedConn)
	if !ok {
		return nil, nil, errors.New("transport: connection without a guard")
	}
	inner, id, err := g.guard.handshake(g.Conn)
	if err != nil {
		return nil, nil, fmt.Errorf("transport: %w", err)
	}
	return inner, id, nil
}

// ClientHandshake is for clients, which these credentials are not.
func (serverCredentials) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.New("transport: server credentials used by a client")
}

// Info describes the scheme to gRPC.
func (serverCredentials) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "toolsd"}
}

// Clone returns the same: there is no state.
func (serverCredentials) Clone() credentials.TransportCredentials { return serverCredentials{} }

// OverrideServerName is for clients.
func (serverCredentials) OverrideServerName(string) error { return nil }

// openGuard takes everybody under one name.
type openGuard struct{ principal string }

func (g openGuard) handshake(conn net.Conn) (net.Conn, identity, error) {
	return conn, identity{CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.NoSecurity}, principal: g.principal}, nil
}

// uidGuard takes the processes of some users.
type uidGuard struct{ allowed map[uint32]bool }

func (g uidGuard) handshake(conn net.Conn) (net.Conn, identity, error) {
	uid, err := peerUID(conn)
	if err != nil {
		return nil, identity{}, err
	}
	if !g.allowed[uid] {
		return nil, identity{}, fmt.Errorf("user id %d is not among the allowed ones", uid)
	}
	return conn, identity{
		CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
		principal:      "uid:" + strconv.FormatUint(uint64(uid), 10),
	}, nil
}

// tokenGuard leaves the question of who it is to each call's token.
type tokenGuard struct {
	tokens *Tokens
	tls    *tls.Config // nil for plain TCP
}

func (g tokenGuard) handshake(conn net.Conn) (net.Conn, identity, error) {
	id := identity{CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.NoSecurity}, tokens: g.tokens}
	if g.tls == nil {
		return conn, id, nil
	}
	inner, _, err := tlsHandshake(conn, g.tls)
	if err != nil {
		return nil, identity{}, err
	}
	id.SecurityLevel = credentials.PrivacyAndIntegrity
	return inner, id, nil
}

// certGuard takes whoever holds a certificate of the client authorities.
type certGuard struct{ tls *tls.Config }

func (g certGuard) handshake(conn net.Conn) (net.Conn, identity, error) {
	inner, info, err := tlsHandshake(conn, g.tls)
	if err != nil {
		return nil, identity{}, err
	}
	if len(info.State.PeerCertificates) == 0 {
		return nil, identity{}, errors.New("no client certificate")
	}
	cert := info.State.PeerCertificates[0]
	name := cert.Subject.CommonName
	if len(cert.URIs) > 0 {
		name = cert.URIs[0].String()
	}
	if name == "" {
		return nil, identity{}, errors.New("client certificate with neither URI nor common name")
	}
	return inner, identity{
		CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
		principal:      "cert:" + name,
	}, nil
}

// tlsHandshake leaves the protocol to gRPC's own TLS credentials, which also
// negotiate HTTP/2.
func tlsHandshake(conn net.Conn, config *tls.Config) (net.Conn, credentials.TLSInfo, error) {
	inner, info, err := credentials.NewTLS(config).ServerHandshake(conn)
	if err != nil {
		return nil, credentials.TLSInfo{}, fmt.Errorf("TLS handshake: %w", err)
	}
	tlsInfo, ok := info.(credentials.TLSInfo)
	if !ok {
		return nil, credentials.TLSInfo{}, fmt.Errorf("TLS handshake gave %T", info)
	}
	return inner, tlsInfo, nil
}
