package arch

import (
	"fmt"
	"slices"
	"strings"
)

// module is the path of the module under test.
const module = "github.com/toolsd/toolsd"

// maxLines caps a file that is neither a test nor generated, in lines.
const maxLines = 450

// floors lists the rooms from the top of the house to the bottom. A room imports
// rooms of lower floors only: neither one above nor one beside it. A new room is
// given its floor here.
var floors = [][]string{
	{"cmd/toolsd"},
	{"internal/config"},
	{"internal/server"},
	{"internal/session"},
	{"internal/ask", "internal/astq", "internal/dap", "internal/kernel", "internal/lsp", "internal/vibe"},
	{"internal/proc", "internal/workspace"},
	{"internal/telemetry"},
	{"internal/arch", "internal/toolerr"},
}

// reserved maps a package, with all below it, to the only rooms that may import
// it.
var reserved = map[string][]string{
	module + "/gen":              {"internal/server"},
	"google.golang.org/genproto": {"cmd/toolsd", "internal/server"},
	"google.golang.org/grpc":     {"cmd/toolsd", "internal/server"},
	"google.golang.org/protobuf": {"cmd/toolsd", "internal/server"},
	"os/exec":                    {"internal/proc"},
}

// unreachable lists what the rooms below the server must not even reach through
// other modules, so that each of them could be lifted out whole.
var unreachable = []string{module + "/gen", "google.golang.org/grpc"}

// check returns each breach of the rules in a graph of packages, in a stable
// order. The graph holds the module's packages and all that they depend on.
func check(graph map[string]pkg) []string {
	var breaches []string
	for path, p := range graph {
		room, ok := roomOf(path)
		if !ok || within(path, module+"/gen") {
			continue
		}
		breaches = append(breaches, checkDoc(p)...)
		breaches = append(breaches, checkImports(p, room)...)
		if floorOf(room) > floorOf("internal/server") {
			breaches = append(breaches, checkReach(graph, path)...)
		}
	}
	slices.Sort(breaches)
	return breaches
}

// checkDoc wants a package comment.
func checkDoc(p pkg) []string {
	if len(p.GoFiles)+len(p.CgoFiles) > 0 && p.Doc == "" {
		return []string{p.ImportPath + " has no package comment"}
	}
	return nil
}

// checkImports holds the direct imports of a package against floors and reserved.
func checkImports(p pkg, room string) []string {
	floor := floorOf(room)
	if floor < 0 {
		return []string{fmt.Sprintf("room %s has no floor in this test: say where it belongs", room)}
	}
	var breaches []string
	for _, imported := range p.Imports {
		for target, rooms := range reserved {
			if within(imported, target) && !slices.Contains(rooms, room) {
				breaches = append(breaches, fmt.Sprintf("%s imports %s, which only %s may", p.ImportPath, imported, strings.Join(rooms, " and ")))
			}
		}
		other, ok := roomOf(imported)
		if !ok || other == room || within(imported, module+"/gen") {
			continue
		}
		if floorOf(other) >= 0 && floorOf(other) <= floor {
			breaches = append(breaches, fmt.Sprintf("%s imports %s, which is not on a lower floor", p.ImportPath, imported))
		}
	}
	return breaches
}

// checkReach looks for the shortest way from a package to an unreachable one, if
// there is any longer than a direct import, which checkImports reports.
func checkReach(graph map[string]pkg, from string) []string {
	via := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, imported := range graph[queue[0]].Imports {
			if _, seen := via[imported]; seen {
				continue
			}
			via[imported] = queue[0]
			queue = append(queue, imported)
			forbidden := slices.ContainsFunc(unreachable, func(target string) bool { return within(imported, target) })
			if forbidden && queue[0] != from {
				return []string{fmt.Sprintf("%s reaches %s: %s", from, imported, chain(via, imported))}
			}
		}
	}
	return nil
}

// chain spells the way that via remembers, from its start to its end.
func chain(via map[string]string, end string) string {
	var steps []string
	for step := end; step != ""; step = via[step] {
		steps = append(steps, step)
	}
	slices.Reverse(steps)
	return strings.Join(steps, " → ")
}

// roomOf returns the first two parts of a package's path in the module. It says
// no for packages outside it.
func roomOf(path string) (string, bool) {
	inner, ok := strings.CutPrefix(path, module+"/")
	if !ok {
		return "", false
	}
	parts := strings.SplitN(inner, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/"), true
}

// floorOf returns the number of a room's floor, counted from the top, or -1.
func floorOf(room string) int {
	return slices.IndexFunc(floors, func(rooms []string) bool { return slices.Contains(rooms, room) })
}

// within reports whether a package is the target or lies below it.
func within(path, target string) bool {
	return path == target || strings.HasPrefix(path, target+"/")
}
