package session

import (
	"slices"
	"strconv"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// Page sizes of List.
const (
	DefaultPageSize = 100
	MaxPageSize     = 1000
)

// List returns a page of the principal's live runs, oldest first, and the
// token of the next page, empty on the last one. A page has size runs, or
// DefaultPageSize when it is 0. A run that lives through all pages is on
// exactly one; runs created meanwhile come last. A size out of range or a
// token not from here is BAD_ARGUMENT.
func (m *Manager) List(principal Principal, size int, token string) (page []*Run, next string, err error) {
	if size < 0 || size > MaxPageSize {
		return nil, "", toolerr.BadArgument("page_size", "%d is out of range: want 1 to %d, or 0 for %d", size, MaxPageSize, DefaultPageSize)
	}
	if size == 0 {
		size = DefaultPageSize
	}
	after, err := parsePageToken(token)
	if err != nil {
		return nil, "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	owned := m.owned[principal]
	start, found := slices.BinarySearchFunc(owned, after, bySeq)
	if found {
		start++
	}
	for _, r := range owned[start:] {
		if r.state != live {
			continue
		}
		if len(page) == size {
			return page, formatPageToken(page[size-1].seq), nil
		}
		page = append(page, r)
	}
	return page, "", nil
}

// A page token is the sequence number of the last run of the page before, in
// base 36. It stays good when that run ends.
func formatPageToken(seq uint64) string { return strconv.FormatUint(seq, 36) }

func parsePageToken(token string) (uint64, error) {
	if token == "" {
		return 0, nil
	}
	seq, err := strconv.ParseUint(token, 36, 64)
	if err != nil {
		return 0, toolerr.BadArgument("page_token", "%.80q is not a token from ListRuns", token)
	}
	return seq, nil
}
