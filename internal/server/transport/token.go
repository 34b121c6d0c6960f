package transport

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"os"
	"strings"
)

// MinTokenBytes is the length of the shortest token that is accepted.
const MinTokenBytes = 32

// Tokens are the bearer tokens that count, by principal. It never holds a
// token itself, only its hash.
type Tokens struct {
	entries []tokenEntry
}

type tokenEntry struct {
	principal string
	hash      [sha256.Size]byte
}

// ReadTokens reads a token file.
func ReadTokens(name string) (*Tokens, error) {
	data, err := os.ReadFile(name) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("read the token file: %w", err)
	}
	tokens, err := ParseTokens(data)
	if err != nil {
		return nil, fmt.Errorf("token file %s: %w", name, err)
	}
	return tokens, nil
}

// ParseTokens reads lines of "principal token", or of a token alone, whose
// principal is then "token". Empty lines and lines that start with '#' are
// passed over. Errors never quote a token.
func ParseTokens(data []byte) (*Tokens, error) {
	tokens := &Tokens{}
	seen := map[[sha256.Size]byte]bool{}
	for i, line := range bytes.Split(data, []byte("\n")) {
		fields := strings.Fields(string(line))
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		entry := tokenEntry{principal: "token"}
		token := fields[len(fields)-1]
		switch len(fields) {
		case 1:
		case 2:
			entry.principal = "token:" + fields[0]
		default:
			return nil, fmt.Errorf("line %d: want \"principal token\" or a token alone, got %d words", i+1, len(fields))
		}
		if len(token) < MinTokenBytes {
			return nil, fmt.Errorf("line %d: the token has %d bytes, want %d or more; make one with \"openssl rand -hex 32\"", i+1, len(token), MinTokenBytes)
		}
		entry.hash = sha256.Sum256([]byte(token))
		if seen[entry.hash] {
			return nil, fmt.Errorf("line %d: the same token stands on an earlier line", i+1)
		}
		seen[entry.hash] = true
		tokens.entries = append(tokens.entries, entry)
	}
	if len(tokens.entries) == 0 {
		return nil, fmt.Errorf("no token; write one of %d bytes or more into it", MinTokenBytes)
	}
	return tokens, nil
}

// lookup finds the principal of an authorization header. It compares with
// every entry, so that its time tells nothing of which one came close.
func (t *Tokens) lookup(headers []string) (principal string, ok bool) {
	if len(headers) != 1 {
		return "", false
	}
	scheme, token, found := strings.Cut(headers[0], " ")
	if !found || !strings.EqualFold(scheme, "bearer") {
		return "", false
	}
	hash := sha256.Sum256([]byte(strings.TrimSpace(token)))
	for _, entry := range t.entries {
		if subtle.ConstantTimeCompare(entry.hash[:], hash[:]) == 1 {
			principal, ok = entry.principal, true
		}
	}
	return principal, ok
}
