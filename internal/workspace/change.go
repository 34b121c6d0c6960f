package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Hash is the SHA-256 of a file's content.
type Hash = [sha256.Size]byte

// Expected is what a path must be for a change to be made. The zero value is
// no file's content, so that a change that forgot it is refused.
type Expected struct {
	absent bool
	hash   Hash
}

// Content expects a regular file, not a symlink, with this content.
func Content(h Hash) Expected { return Expected{hash: h} }

// Absent expects that nothing is there.
func Absent() Expected { return Expected{absent: true} }

// Change is one file of a transaction.
type Change struct {
	// Path is as [Workspace.Rel] takes it.
	Path string
	// Before is what the change was computed from.
	Before Expected
	// After is the new content. A file that exists keeps its mode and owner;
	// a new one gets 0666 less the umask, and the folders that it lacks.
	After []byte
	// Delete takes the file away instead.
	Delete bool
}

// after is what the change leaves behind.
func (c Change) after() Expected {
	if c.Delete {
		return Absent()
	}
	return Content(sha256.Sum256(c.After))
}

// absentText is the text form of Absent.
const absentText = "absent"

// MarshalText returns "absent" or the content's hash in hex, for the record
// of a transaction.
func (e Expected) MarshalText() ([]byte, error) {
	if e.absent {
		return []byte(absentText), nil
	}
	return hex.AppendEncode(nil, e.hash[:]), nil
}

// UnmarshalText is the inverse of MarshalText.
func (e *Expected) UnmarshalText(text []byte) error {
	if string(text) == absentText {
		*e = Absent()
		return nil
	}
	hash, err := hex.DecodeString(string(text))
	if err != nil || len(hash) != len(e.hash) {
		return fmt.Errorf("%q is neither %q nor a SHA-256", text, absentText)
	}
	*e = Content(Hash(hash))
	return nil
}
