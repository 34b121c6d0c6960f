package arch

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// directRequirement matches a requirement in go.mod that no comment marks as
// indirect.
var directRequirement = regexp.MustCompile(`(?m)^(?:require |\t)(\S+) v\S+$`)

// TestDependenciesAreExplained wants a row in docs/dependencies.md for each
// direct requirement of go.mod.
func TestDependenciesAreExplained(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range directRequirement.FindAllSubmatch(mod, -1) {
		if row := "| `" + string(match[1]) + "` |"; !bytes.Contains(page, []byte(row)) {
			t.Errorf("docs/dependencies.md does not say why %s is needed", match[1])
		}
	}
}
