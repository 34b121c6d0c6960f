package syntax

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func dump(t *Tree) string {
	var b strings.Builder
	var ends []uint32
	for i := range t.nodes {
		n := &t.nodes[i]
		for len(ends) > 0 && uint32(i) >= ends[len(ends)-1] {
			ends = ends[:len(ends)-1]
		}
		text := ""
		if n.Next == uint32(i)+1 {
			text = fmt.Sprintf(" %q", t.Text(i))
		}
		fmt.Fprintf(&b, "%s%s%s%s\n", strings.Repeat("  ", len(ends)), t.language.KindName(n.Symbol), map[bool]string{true: "!"}[n.IsError() || n.Missing()], text)
		ends = append(ends, n.Next)
	}
	return b.String()
}

func TestDump(t *testing.T) {
	ls, err := NewLanguages([]string{"../../../.tools/grammars"})
	if err != nil {
		t.Fatal(err)
	}
	l, _ := ls.ByName(os.Getenv("L"))
	tree, err := l.Parse(context.Background(), []byte(os.Getenv("S")), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(dump(tree))
}
