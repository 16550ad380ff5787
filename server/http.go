package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Endpoint is the path at which clients reach the protocol over HTTP.
const Endpoint = "/mcp"

// Limits of what a client may cost before it has said anything sensible.
const (
	maxHeader   = 64 << 10        // bytes of request line and headers; 431 above
	maxBody     = maxLine         // bytes of one message; 413 above
	idleConnect = 2 * time.Minute // a connection without a request
)

// pace is how slow a client may be.
type pace struct {
	header time.Duration // to send the headers
	body   time.Duration // to send the body
	write  time.Duration // to take one piece of an answer
}

var usualPace = pace{header: 10 * time.Second, body: 30 * time.Second, write: 30 * time.Second}

// DefaultSessionTimeout is how long a session lives without a request. Clients
// that come back later begin a new one, as the protocol demands.
const DefaultSessionTimeout = 30 * time.Minute

// HTTPOptions say how the server is reached over HTTP. The zero value serves
// anybody who can connect, under loopback names and plain addresses.
type HTTPOptions struct {
	// SessionTimeout ends sessions without a request for so long. Zero means
	// DefaultSessionTimeout. It concerns revisions of the protocol that have
	// sessions.
	SessionTimeout time.Duration
	// Hosts are names by which clients may address the server, beside localhost
	// and plain IP addresses.
	Hosts []string
	// Token is what clients must know. "": nothing.
	Token string

	pace     pace // the zero value: usualPace
	sessions int  // the most at once; 0: maxSessions
}

// ServeHTTP serves any number of clients that connect to l until ctx is done.
// Calls that run then are cancelled and get their error as an answer.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, opts HTTPOptions) error {
	return s.serveHTTP(ctx, l, s.MCP(ctx), opts)
}

func (s *Server) serveHTTP(ctx context.Context, l net.Listener, m *mcp.Server, opts HTTPOptions) error {
	if opts.pace == (pace{}) {
		opts.pace = usualPace
	}
	requests, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	web := &http.Server{
		Handler:           s.httpHandler(m, opts),
		BaseContext:       func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: opts.pace.header,
		IdleTimeout:       idleConnect,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelWarn),
	}
	go s.ready(ctx) // somebody will ask, and then it is to be there
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	// Running calls are being cancelled; their answers take moments. Streams on
	// which clients only listen never end by themselves.
	answered := time.AfterFunc(answerTime, hangUp)
	defer answered.Stop()
	bounded, cancel := context.WithTimeout(requests, 3*answerTime)
	defer cancel()
	if err := web.Shutdown(bounded); err != nil {
		return errors.Join(web.Close(), ignoreDone(err))
	}
	return nil
}

// answerTime is how long cancelled calls have to send their last answer.
const answerTime = 300 * time.Millisecond

func ignoreDone(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// httpHandler is everything that is served over HTTP.
func (s *Server) httpHandler(m *mcp.Server, opts HTTPOptions) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(Endpoint, bearer(opts.Token, wholeBody(opts.pace.body, s.protocol(m, opts))))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeText(w, http.StatusOK, "alive")
	})
	mux.HandleFunc("GET /readyz", s.readiness)
	if s.metrics != nil {
		mux.Handle("GET /metrics", bearer(opts.Token, s.metrics.page()))
	}
	return patient(opts.pace.write, s.metrics.requests(knownHost(opts.Hosts, sameOrigin(mux))))
}

// protocol serves all revisions of the protocol from one URL. The newest has no
// sessions: every request stands alone, and a closed connection is a cancelled
// call. In all others a session holds the client's roots, and a cancellation is a
// message of its own. The header tells the two apart.
func (s *Server) protocol(m *mcp.Server, opts HTTPOptions) http.Handler {
	get := func(*http.Request) *mcp.Server { return m }
	idle := opts.SessionTimeout
	if idle == 0 {
		idle = DefaultSessionTimeout
	}
	log := s.protocolLogger()
	alone := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: maxBody, Logger: log,
		DisableLocalhostProtection: true, // knownHost is stricter, and covers every path
	})
	sessions := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		SessionTimeout: idle, MaxRequestBodyBytes: maxBody, Logger: log, DisableLocalhostProtection: true,
	})
	limit := &sessionLimit{server: m, most: cmp.Or(opts.sessions, maxSessions), used: map[string]time.Time{}}
	limited := limit.handler(sessions)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= stateless {
			alone.ServeHTTP(w, r)
			return
		}
		limited.ServeHTTP(w, r)
	})
}

// stateless is the first revision of the protocol that has no sessions.
const stateless = "2026-07-28"

// wholeBody reads a message to its end, in bounded time and space, before
// anybody looks at it. What is not JSON at all, or is nested so deeply that
// only an attack looks like that, is answered here: the protocol library
// recurses without a limit.
func wholeBody(limit time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(limit)) // a connection without deadlines has none to miss
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		_ = control.SetReadDeadline(time.Time{})
		var long *http.MaxBytesError
		switch {
		case errors.As(err, &long):
			writeText(w, http.StatusRequestEntityTooLarge, errLongLine.Error())
			return
		case err != nil:
			w.Header().Set("Connection", "close")
			writeText(w, http.StatusBadRequest, "the message did not arrive: "+err.Error())
			return
		case !json.Valid(body):
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(refusal(jsonrpc.CodeParseError, "not JSON: a message is one JSON-RPC 2.0 object"))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

func writeText(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n") // who does not listen any more misses nothing
}

// patient gives a client so much time for each piece of an answer. There can be
// no limit to the whole: a stream of progress lasts as long as its call.
func patient(each time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &patientWriter{w, http.NewResponseController(w), each}
		defer p.extend() // for what the HTTP library itself has left to write
		next.ServeHTTP(p, r)
	})
}

type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	each    time.Duration
}

func (p *patientWriter) extend() { _ = p.control.SetWriteDeadline(time.Now().Add(p.each)) }

func (p *patientWriter) Write(b []byte) (int, error) {
	p.extend()
	return p.ResponseWriter.Write(b)
}

func (p *patientWriter) FlushError() error {
	p.extend()
	return p.control.Flush()
}

// Unwrap lets http.ResponseController find the connection.
func (p *patientWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }
