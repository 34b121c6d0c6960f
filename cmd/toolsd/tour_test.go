package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tour is what the output of each block of the README's tour must hold.
var tour = []struct {
	block string // what its command calls
	says  []string
	not   string
}{
	{block: "guards.dart"},
	{block: "describe toolsd.v1.AstService.Grep", says: []string{"// Finds code by shape.", "AstServiceGrepRequest"}},
	{block: "RunService/CreateRun", says: []string{`"runId": "local.tour"`, `"TIER_WRITE"`, `"RESOURCE_KIND_AST"`}},
	{block: "RunService/ListTools", says: []string{`"name": "ast_grep"`, `"name": "ast_edit"`, `"name": "resolve"`, `inputSchemaJson`}},
	{block: "AstService/Grep", says: []string{"1 match in 1 file", "guards.dart:2: if (timer != null) timer.dispose();"}, not: "other.dispose"},
	{block: "AstService/Edit", says: []string{`"editId": "edit_1"`, "(proposed) 1 replacement in 1 file", "+  timer?.dispose();"}},
	{block: "AstService/Resolve", says: []string{"Accepted edit_1: wrote 1 replacement in 1 file"}},
	{block: "ToolService/Call", says: []string{"guards.dart:2: timer?.dispose();"}, not: "isError"},
	{block: "RunService/CloseRun", says: []string{"{}"}},
}

// TestReadmeTour runs what README.md tells its readers to run.
func TestReadmeTour(t *testing.T) {
	grpcurl := tool(t, "bin/grpcurl", "grpcurl")
	blocks := tourBlocks(t)
	if len(blocks) != len(tour) {
		t.Fatalf("the tour has %d blocks, this test expects %d", len(blocks), len(tour))
	}
	p := newPlace(t)
	folder := filepath.Join(p.dir, "a folder") // the quoting must cope
	must(t, os.Mkdir(folder, 0o700))
	d := p.serve(t)
	env := []string{
		"PATH=" + filepath.Dir(program(t)) + ":" + filepath.Dir(grpcurl) + ":" + os.Getenv("PATH"),
		"HOME=" + p.dir, "SOCKET=" + p.socket,
	}
	for i, step := range tour {
		if !strings.Contains(blocks[i], step.block) {
			t.Fatalf("block %d of the tour is no %s:\n%s", i+1, step.block, blocks[i])
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		cmd := exec.CommandContext(ctx, "bash", "-e", "-u", "-o", "pipefail", "-c", blocks[i])
		cmd.Dir, cmd.Env = folder, env
		raw, err := cmd.CombinedOutput()
		cancel()
		if err != nil {
			t.Fatalf("%s: %v\n%s\n%s", step.block, err, blocks[i], raw)
		}
		out := strings.ReplaceAll(string(raw), `\u003e`, ">")
		for _, want := range step.says {
			if !strings.Contains(out, want) {
				t.Errorf("%s does not say %q:\n%s", step.block, want, out)
			}
		}
		if step.not != "" && strings.Contains(out, step.not) {
			t.Errorf("%s says %q:\n%s", step.block, step.not, out)
		}
	}
	got := readFile(t, filepath.Join(folder, "guards.dart"))
	if !strings.Contains(got, "\n  timer?.dispose();\n  if (timer != null) other.dispose();\n") {
		t.Errorf("after the tour the file is:\n%s", got)
	}
	if status := d.terminate(); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

// tourBlocks returns the commands between the README's tour marks.
func tourBlocks(t *testing.T) []string {
	t.Helper()
	readme := readFile(t, "../../README.md")
	_, readme, began := strings.Cut(readme, "<!-- tour")
	readme, _, ended := strings.Cut(readme, "<!-- end of tour")
	if !began || !ended {
		t.Fatal("README.md has no tour between its marks")
	}
	var blocks []string
	for _, part := range strings.Split(readme, "```sh\n")[1:] {
		block, _, closed := strings.Cut(part, "```")
		if !closed {
			t.Fatalf("a block of the tour has no end:\n%s", part)
		}
		blocks = append(blocks, block)
	}
	return blocks
}
