package telemetry

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestNewLogger(t *testing.T) {
	var out bytes.Buffer
	logger, err := NewLogger(&out, "warn", "json")
	if err != nil {
		t.Fatal(err)
	}
	logger.Info("left out")
	logger.Warn("kept", "run", "local.a")
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("not one JSON line: %v in %q", err, out.String())
	}
	if line["msg"] != "kept" || line["run"] != "local.a" {
		t.Errorf("line is %v", line)
	}
	for _, bad := range [][2]string{{"loud", "json"}, {"info", "xml"}} {
		if _, err := NewLogger(io.Discard, bad[0], bad[1]); err == nil {
			t.Errorf("NewLogger(%q, %q) was accepted", bad[0], bad[1])
		}
	}
}

func TestMetricsAreServed(t *testing.T) {
	m := NewMetrics("v1.2.3")
	m.ToolCall("ast_grep", ReasonOK, 3*time.Millisecond)
	m.ToolCall("ast_grep", "PATTERN_UNPARSABLE", time.Millisecond)
	m.RunCreated()
	m.RunEnded("idle")
	m.Swept("run")
	m.CloseFailed("ast")
	m.LimitRejected("max_runs")
	m.Panicked()
	m.Gauge("toolsd_runs", "Runs that live now.", func() float64 { return 7 })

	response := httptest.NewRecorder()
	m.Handler().ServeHTTP(response, httptest.NewRequest("GET", "/metrics", nil))
	body := response.Body.String()
	for _, want := range []string{
		`toolsd_tool_calls_total{reason="OK",tool="ast_grep"} 1`,
		`toolsd_tool_calls_total{reason="PATTERN_UNPARSABLE",tool="ast_grep"} 1`,
		`toolsd_tool_seconds_bucket{tool="ast_grep",le="0.005"} 2`,
		`toolsd_runs_created_total 1`,
		`toolsd_runs_ended_total{cause="idle"} 1`,
		`toolsd_swept_total{kind="run"} 1`,
		`toolsd_close_failures_total{kind="ast"} 1`,
		`toolsd_limit_rejections_total{limit="max_runs"} 1`,
		`toolsd_panics_total 1`,
		`toolsd_runs 7`,
		`toolsd_build_info{version="v1.2.3"} 1`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("the endpoint does not serve %s", want)
		}
	}
}
