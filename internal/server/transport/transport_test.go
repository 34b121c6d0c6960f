package transport

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	tokenA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	tokenB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// serve runs a gRPC server that remembers the principal of its last caller.
func serve(t *testing.T, l net.Listener) (principal *string) {
	t.Helper()
	principal = new(string)
	server := grpc.NewServer(grpc.Creds(Credentials()), grpc.UnaryInterceptor(
		func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			p, err := Principal(ctx)
			if err != nil {
				return nil, status.Error(codes.Unauthenticated, err.Error())
			}
			*principal = p
			return handler(ctx, req)
		}))
	healthv1.RegisterHealthServer(server, health.NewServer())
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return principal
}

// ask calls the server once.
func ask(t *testing.T, target string, creds credentials.TransportCredentials, headers ...string) error {
	t.Helper()
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	ctx = metadata.NewOutgoingContext(ctx, metadata.MD{"authorization": headers})
	_, err = healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{})
	return err
}

func TestUnixKnowsThePeer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own", "toolsd.sock")
	l, err := ListenUnix(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	principal := serve(t, l)
	if err := ask(t, "unix://"+path, insecure.NewCredentials()); err != nil {
		t.Fatal(err)
	}
	if want := "uid:" + strconv.Itoa(os.Getuid()); *principal != want {
		t.Errorf("principal is %q, want %q", *principal, want)
	}
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %#o, want %#o", name, got, want)
		}
	}
}

func TestUnixRefusesOtherUsers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own", "toolsd.sock")
	l, err := ListenUnix(path, []uint32{uint32(os.Getuid()) + 1})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, l)
	if err := ask(t, "unix://"+path, insecure.NewCredentials()); status.Code(err) != codes.Unavailable {
		t.Errorf("a user who is not allowed got %v, want a refused connection", err)
	}
}

func TestUnixRefuses(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(t *testing.T, dir string) (path string)
		says    string
	}{
		{"a folder that others may enter", func(t *testing.T, dir string) string {
			t.Helper()
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(dir, "s")
		}, "chmod 700"},
		{"something that is no socket", func(t *testing.T, dir string) string {
			t.Helper()
			if err := os.WriteFile(filepath.Join(dir, "s"), []byte("precious"), 0o600); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(dir, "s")
		}, "no socket stands there"},
		{"a socket that another toolsd serves", func(t *testing.T, dir string) string {
			t.Helper()
			l, err := ListenUnix(filepath.Join(dir, "s"), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
			return filepath.Join(dir, "s")
		}, "another toolsd serves it"},
		{"a socket that another program serves", func(t *testing.T, dir string) string {
			t.Helper()
			l, err := net.Listen("unix", filepath.Join(dir, "s"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
			return filepath.Join(dir, "s")
		}, "another program serves it"},
		{"a path that is too long", func(_ *testing.T, dir string) string {
			return filepath.Join(dir, strings.Repeat("x", 120))
		}, "at most 107"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "t") //nolint:usetesting // shorter than t.TempDir, which has the test's name in it
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			path := tt.prepare(t, dir)
			l, err := ListenUnix(path, nil)
			if err == nil {
				l.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("got %v, want an error that says %q", err, tt.says)
			}
		})
	}
}

func TestUnixReplacesADeadSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own", "s")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false) // as after kill -9
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := ListenUnix(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, l)
	if err := ask(t, "unix://"+path, insecure.NewCredentials()); err != nil {
		t.Error(err)
	}
}

func TestTokens(t *testing.T) {
	tokens, err := ParseTokens([]byte("# who may come in\nalice " + tokenA + "\n\n" + tokenB + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := ListenTCP("127.0.0.1:0", TCPOptions{Tokens: tokens})
	if err != nil {
		t.Fatal(err)
	}
	principal := serve(t, l)
	tests := []struct {
		name    string
		headers []string
		want    string // principal; empty when refused
	}{
		{"a token with a name", []string{"Bearer " + tokenA}, "token:alice"},
		{"a token without one", []string{"bearer " + tokenB}, "token"},
		{"no header", nil, ""},
		{"another scheme", []string{"Basic " + tokenA}, ""},
		{"a token that is none", []string{"Bearer " + tokenA + "a"}, ""},
		{"an empty token", []string{"Bearer "}, ""},
		{"two headers", []string{"Bearer " + tokenA, "Bearer " + tokenB}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			*principal = ""
			err := ask(t, l.Addr().String(), insecure.NewCredentials(), tt.headers...)
			if tt.want == "" {
				if status.Code(err) != codes.Unauthenticated {
					t.Fatalf("got %v, want UNAUTHENTICATED", err)
				}
				return
			}
			if err != nil || *principal != tt.want {
				t.Errorf("principal is %q (%v), want %q", *principal, err, tt.want)
			}
		})
	}
}

func TestParseTokensRefuses(t *testing.T) {
	tests := []struct{ name, file, says string }{
		{"nothing", "# only a comment\n", "no token"},
		{"a short token", "alice secret\n", "line 1: the token has 6 bytes"},
		{"too many words", "alice and " + tokenA + "\n", "line 1: want"},
		{"a token twice", "alice " + tokenA + "\nbob " + tokenA + "\n", "line 2: the same token"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseTokens([]byte(tt.file))
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("got %v, want an error that says %q", err, tt.says)
			}
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), tokenA) {
				t.Errorf("the error quotes a token: %v", err)
			}
		})
	}
}

// authority is a throw-away certificate authority.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.cert, a.key = issue(t, nil, &x509.Certificate{Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	a.file = writePEM(t, "CERTIFICATE", a.cert.Raw)
	return a
}

func issue(t *testing.T, by *authority, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// leaf issues a certificate for a server or a client and returns its files.
func (a *authority) leaf(t *testing.T, name string, usage x509.ExtKeyUsage, uri string) (certFile, keyFile string) {
	t.Helper()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{usage}, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if uri != "" {
		u, err := url.Parse(uri)
		if err != nil {
			t.Fatal(err)
		}
		template.URIs = []*url.URL{u}
	}
	cert, key := issue(t, a, template)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return writePEM(t, "CERTIFICATE", cert.Raw), writePEM(t, "PRIVATE KEY", der)
}

func writePEM(t *testing.T, kind string, der []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "f.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestMutualTLS(t *testing.T) {
	ca, stranger := newAuthority(t), newAuthority(t)
	certFile, keyFile := ca.leaf(t, "toolsd", x509.ExtKeyUsageServerAuth, "")
	l, err := ListenTCP("127.0.0.1:0", TCPOptions{CertFile: certFile, KeyFile: keyFile, ClientCA: ca.file})
	if err != nil {
		t.Fatal(err)
	}
	principal := serve(t, l)
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	tests := []struct {
		name  string
		by    *authority
		cn    string
		uri   string
		tls12 bool
		want  string
	}{
		{"a client by its common name", ca, "harness", "", false, "cert:harness"},
		{"a client by its URI", ca, "harness", "spiffe://example.org/harness", false, "cert:spiffe://example.org/harness"},
		{"a client of another authority", stranger, "harness", "", false, ""},
		{"no certificate", nil, "", "", false, ""},
		{"a certificate without a name", ca, "", "", false, ""},
		{"TLS 1.2", ca, "harness", "", true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
			if tt.tls12 {
				client.MaxVersion = tls.VersionTLS12
			}
			if tt.by != nil {
				c, k := tt.by.leaf(t, tt.cn, x509.ExtKeyUsageClientAuth, tt.uri)
				pair, err := tls.LoadX509KeyPair(c, k)
				if err != nil {
					t.Fatal(err)
				}
				client.Certificates = []tls.Certificate{pair}
			}
			*principal = ""
			err := ask(t, l.Addr().String(), credentials.NewTLS(client))
			if (err == nil) != (tt.want != "") || *principal != tt.want {
				t.Errorf("principal is %q (%v), want %q", *principal, err, tt.want)
			}
		})
	}
}

func TestTokenOverTLS(t *testing.T) {
	ca := newAuthority(t)
	certFile, keyFile := ca.leaf(t, "toolsd", x509.ExtKeyUsageServerAuth, "")
	tokens, err := ParseTokens([]byte(tokenA))
	if err != nil {
		t.Fatal(err)
	}
	l, err := ListenTCP("127.0.0.1:0", TCPOptions{Tokens: tokens, CertFile: certFile, KeyFile: keyFile})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, l)
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	creds := credentials.NewTLS(&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13})
	if err := ask(t, l.Addr().String(), creds, "Bearer "+tokenA); err != nil {
		t.Error(err)
	}
	if err := ask(t, l.Addr().String(), creds); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without a token got %v, want UNAUTHENTICATED", err)
	}
}

func TestOpenLoopback(t *testing.T) {
	l, err := ListenTCP("127.0.0.1:0", TCPOptions{Open: true})
	if err != nil {
		t.Fatal(err)
	}
	principal := serve(t, l)
	if err := ask(t, l.Addr().String(), insecure.NewCredentials()); err != nil || *principal != "loopback" {
		t.Errorf("principal is %q (%v), want loopback", *principal, err)
	}
}

func TestListenTCPRefuses(t *testing.T) {
	if _, err := ListenTCP("127.0.0.1:0", TCPOptions{}); err == nil {
		t.Error("a listener without authentication was opened")
	}
	if _, err := ListenTCP("127.0.0.1:0", TCPOptions{CertFile: "/nowhere", KeyFile: "/nowhere", Open: true}); err == nil {
		t.Error("a missing certificate was accepted")
	}
}

func FuzzParseTokens(f *testing.F) {
	f.Add([]byte("alice " + tokenA))
	f.Add([]byte("#\n\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tokens, err := ParseTokens(data)
		if (err == nil) != (tokens != nil && len(tokens.entries) > 0) {
			t.Fatalf("ParseTokens(%q) = %v, %v", data, tokens, err)
		}
	})
}
