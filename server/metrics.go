package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

// outcome is how a call ended, as a label.
type outcome string

const (
	outcomeOK        outcome = "ok"
	outcomeRefused   outcome = "refused"   // the caller's mistake: an argument, a path, a root
	outcomeRetry     outcome = "retry"     // installing or indexing
	outcomeCancelled outcome = "cancelled" // by the client, or by a shutdown
	outcomeFailed    outcome = "failed"    // ours
	outcomePanic     outcome = "panic"
)

func outcomeOf(err error) outcome {
	var argument *ArgumentError
	var root *RootError
	var path *nav.PathError
	var symbol *nav.SymbolError
	var outside *nav.OutsideError
	switch {
	case nav.Temporary(err):
		return outcomeRetry
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, errShutdown):
		return outcomeCancelled
	case errors.As(err, &argument), errors.As(err, &root), errors.As(err, &path), errors.As(err, &symbol), errors.As(err, &outside):
		return outcomeRefused
	}
	return outcomeFailed
}

// metrics count what the server does. Every label has few values, whatever
// clients send: names of tools, outcomes, our own paths. The nil metrics count
// nothing.
type metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	running  prometheus.Gauge
	http     *prometheus.CounterVec
}

// callBuckets reach from a warm answer to the patience of hosts, in seconds.
var callBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

func newMetrics(open *workspaces) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gtagsmcp_calls_total", Help: "Tool calls by tool and outcome: ok, refused (the caller's mistake), retry, cancelled, failed, panic.",
		}, []string{"tool", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gtagsmcp_call_seconds", Help: "How long tool calls took.", Buckets: callBuckets,
		}, []string{"tool"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{Name: "gtagsmcp_calls_running", Help: "Tool calls under way."}),
		http: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gtagsmcp_http_requests_total", Help: "HTTP requests by path and status.",
		}, []string{"path", "code"}),
	}
	m.registry.MustRegister(m.calls, m.seconds, m.running, m.http, indexCollector{open},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// call counts one call from now on; the function it returns takes the answer.
func (m *metrics) call(tool string) func(**envelope) {
	if m == nil {
		return func(**envelope) {}
	}
	start := time.Now()
	m.running.Inc()
	return func(e **envelope) {
		m.running.Dec()
		m.seconds.WithLabelValues(tool).Observe(time.Since(start).Seconds())
		how := (*e).outcome
		if how == "" {
			how = outcomeOK
		}
		m.calls.WithLabelValues(tool, string(how)).Inc()
	}
}

// requests counts what comes in over HTTP.
func (m *metrics) requests(next http.Handler) http.Handler {
	if m == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := "other"
		switch r.URL.Path {
		case Endpoint, "/healthz", "/readyz", "/metrics":
			path = r.URL.Path
		}
		status := &statusWriter{ResponseWriter: w, code: http.StatusOK}
		defer func() { m.http.WithLabelValues(path, strconv.Itoa(status.code)).Inc() }()
		next.ServeHTTP(status, r)
	})
}

// statusWriter keeps the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	code int
}

func (s *statusWriter) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap lets http.ResponseController find the connection.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (m *metrics) page() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// indexCollector looks at the open workspaces when somebody asks.
type indexCollector struct{ open *workspaces }

var (
	indexStates = prometheus.NewDesc("gtagsmcp_indexes", "Open workspaces by the state of their index.", []string{"state"}, nil)
	indexFiles  = prometheus.NewDesc("gtagsmcp_indexed_files", "Files in the indexes of the open workspaces.", nil, nil)
)

func (c indexCollector) Describe(out chan<- *prometheus.Desc) {
	out <- indexStates
	out <- indexFiles
}

func (c indexCollector) Collect(out chan<- prometheus.Metric) {
	count := map[nav.IndexState]int{nav.IndexUnknown: 0, nav.IndexBuilding: 0, nav.IndexRefreshing: 0, nav.IndexReady: 0}
	total := 0
	for _, ws := range c.open.all() {
		state, files := ws.State()
		count[state]++
		total += files
	}
	for state, n := range count {
		out <- prometheus.MustNewConstMetric(indexStates, prometheus.GaugeValue, float64(n), string(state))
	}
	out <- prometheus.MustNewConstMetric(indexFiles, prometheus.GaugeValue, float64(total))
}
