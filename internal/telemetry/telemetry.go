// Package telemetry owns what toolsd shows of itself: structured logs, and
// the Prometheus metrics of runs and tools (design.md section 8). Labels come
// from closed sets, never a run id, a path or an error's text; logs carry ids
// and counts, never code, file contents or answers.
//
// The gRPC server's own metrics belong to package server, which registers
// them here.
package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// NewLogger returns a logger of the level (debug, info, warn, error) and the
// format (json, text).
func NewLogger(w io.Writer, level, format string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level %q: %w", level, err)
	}
	options := &slog.HandlerOptions{Level: l}
	switch format {
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	default:
		return nil, fmt.Errorf("log format %q is not one of json, text", format)
	}
}

// ReasonOK is the reason label of a call that succeeded.
const ReasonOK = "OK"

// toolBuckets reach from an answer out of a cache to a long debug session's
// budget, in seconds.
var toolBuckets = []float64{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}

// Metrics are toolsd's own metrics, in a registry of their own. Its methods
// are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	toolCalls     *prometheus.CounterVec
	toolSeconds   *prometheus.HistogramVec
	runsCreated   prometheus.Counter
	runsEnded     *prometheus.CounterVec
	swept         *prometheus.CounterVec
	closeFailures *prometheus.CounterVec
	limited       *prometheus.CounterVec
	panics        prometheus.Counter
}

// NewMetrics registers every metric; version is shown by toolsd_build_info.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		toolCalls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolsd_tool_calls_total",
			Help: "Tool calls by tool and outcome: OK, or the reason of the error.",
		}, []string{"tool", "reason"}),
		toolSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "toolsd_tool_seconds",
			Help:    "Time of a tool call, from its arguments to its result.",
			Buckets: toolBuckets,
		}, []string{"tool"}),
		runsCreated: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "toolsd_runs_created_total", Help: "Runs that went live.",
		}),
		runsEnded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolsd_runs_ended_total", Help: "Runs that ended, by cause.",
		}, []string{"cause"}),
		swept: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolsd_swept_total", Help: "What the sweeper ended, by kind.",
		}, []string{"kind"}),
		closeFailures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolsd_close_failures_total", Help: "Resources that failed to close in time, by kind.",
		}, []string{"kind"}),
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolsd_limit_rejections_total", Help: "Requests refused by a limit of the daemon, by limit.",
		}, []string{"limit"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "toolsd_panics_total", Help: "Panics in handlers; each ended one call with INTERNAL.",
		}),
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "toolsd_build_info", Help: "Always 1; the label is the version.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	info.Set(1)
	m.registry.MustRegister(m.toolCalls, m.toolSeconds, m.runsCreated, m.runsEnded, m.swept, m.closeFailures, m.limited, m.panics,
		info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Register adds metrics of another room.
func (m *Metrics) Register(c ...prometheus.Collector) { m.registry.MustRegister(c...) }

// Gauge registers a gauge that is read when it is scraped.
func (m *Metrics) Gauge(name, help string, read func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// ToolCall counts one call of a tool; reason is ReasonOK or a toolerr reason.
func (m *Metrics) ToolCall(tool, reason string, took time.Duration) {
	m.toolCalls.WithLabelValues(tool, reason).Inc()
	m.toolSeconds.WithLabelValues(tool).Observe(took.Seconds())
}

// RunCreated counts a run that went live.
func (m *Metrics) RunCreated() { m.runsCreated.Inc() }

// RunEnded counts a run that is gone.
func (m *Metrics) RunEnded(cause string) { m.runsEnded.WithLabelValues(cause).Inc() }

// Swept counts what the sweeper ended.
func (m *Metrics) Swept(kind string) { m.swept.WithLabelValues(kind).Inc() }

// CloseFailed counts a resource that failed to close.
func (m *Metrics) CloseFailed(kind string) { m.closeFailures.WithLabelValues(kind).Inc() }

// LimitRejected counts a request over a limit.
func (m *Metrics) LimitRejected(limit string) { m.limited.WithLabelValues(limit).Inc() }

// Panicked counts a panic in a handler.
func (m *Metrics) Panicked() { m.panics.Inc() }

// Handler serves the metrics in the Prometheus formats.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}
