package server

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
)

// TestAnswersFitAClient: grpc-go, and most other clients, refuse messages above
// 4 MiB. An edit whose answer is refused would be staged under an id that
// nobody knows.
func TestAnswersFitAClient(t *testing.T) {
	d := start(t)
	const files, callsInFile = 100, 60
	for i := range files {
		line := "  f('" + strings.Repeat("x", 1000) + "');\n"
		d.write(fmt.Sprintf("f%03d.dart", i), "void g() {\n"+strings.Repeat(line, callsInFile)+"}\n")
	}
	run := d.create("", toolsdv1.Tier_TIER_WRITE)

	edit, err := d.ast().Edit(t.Context(), &toolsdv1.AstServiceEditRequest{RunId: run, Pattern: "f($X)", Rewrite: "h($X)", Language: "dart"})
	must(t, err)
	if len(edit.GetFiles()) != files || edit.GetReplacements() != files*callsInFile {
		t.Errorf("%d replacements in %d files", edit.GetReplacements(), len(edit.GetFiles()))
	}
	diffs := 0
	for i, file := range edit.GetFiles() {
		diffs += len(file.GetDiff())
		if whole := strings.Count(file.GetDiff(), "+  h(") == callsInFile; whole == file.GetDiffTruncated() {
			t.Errorf("file %d: the whole diff is there: %v, truncated: %v", i, whole, file.GetDiffTruncated())
		}
	}
	if diffs > maxPayload {
		t.Errorf("the diffs have %d bytes", diffs)
	}

	grep, err := d.ast().Grep(t.Context(), &toolsdv1.AstServiceGrepRequest{
		RunId: run, Pattern: "f($X)", Language: "dart", MaxResults: proto.Int32(1000),
	})
	must(t, err)
	if n := int64(len(grep.GetMatches())); n == 0 || n == 1000 || n+grep.GetOmitted() != files*callsInFile {
		t.Errorf("%d matches and %d left out, want %d together", n, grep.GetOmitted(), files*callsInFile)
	}
	result, err := d.call(run, toolAstGrep, `{"pattern": "f($X)", "language": "dart", "max_results": 1000}`)
	if err != nil || result.GetIsError() {
		t.Errorf("Call: %v, %v", result, err)
	}
}
