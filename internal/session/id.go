package session

import (
	"crypto/rand"
	"strings"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// DefaultReplica is the replica name of a daemon that runs alone.
const DefaultReplica = "local"

const (
	// maxIDPart is the longest replica name, and the longest rest of a run id,
	// in bytes. A UUID, a pod name and a 256-bit hash in hex fit.
	maxIDPart = 64
	// madeIDLength is the length of a rest made here: 13 characters of 5
	// random bits. Ids are addresses and not credentials, so this only has to
	// be unlikely to collide, and short enough to read out.
	madeIDLength = 13
)

// makeID returns a random id of the replica.
func makeID(replica string) string {
	return replica + "." + strings.ToLower(rand.Text()[:madeIDLength])
}

// resolveID returns the full form of a run id, "<replica>.<rest>"; the
// replica may be left out of id and is then this one. A malformed id is
// BAD_ARGUMENT on the request field it came in, another replica's id is
// WRONG_REPLICA.
func (m *Manager) resolveID(field, id string) (string, error) {
	if id == "" {
		return "", toolerr.BadArgument(field, "missing")
	}
	replica, rest, full := strings.Cut(id, ".")
	if !full {
		replica, rest = m.cfg.Replica, id
	}
	if !validIDPart(replica) || !validIDPart(rest) {
		return "", toolerr.BadArgument(field,
			"%.80q is not a run id: want <name> or <replica>.<name>, each of 1 to %d letters, digits, '_' or '-' that starts with a letter or digit",
			id, maxIDPart)
	}
	if replica != m.cfg.Replica {
		return "", wrongReplica(id, replica, m.cfg.Replica)
	}
	return replica + "." + rest, nil
}

func validIDPart(s string) bool {
	if s == "" || len(s) > maxIDPart || s[0] == '-' || s[0] == '_' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
