package toolchain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
)

const (
	dialLimit   = 4 * time.Second
	stallLimit  = 15 * time.Second
	maxPause    = 5 * time.Second // a server that asks for a longer wait is given up
	fetchTrials = 3
)

// network is the way to the servers during one climb. It remembers to which of
// them no connection came about: a rung that follows does not wait for the same.
type network struct {
	mu   sync.Mutex
	dead map[string]error // address: why
}

// unreachableError is a server, or a proxy before it, to which no connection
// came about.
type unreachableError struct {
	address string
	again   bool // it was found so earlier
	err     error
}

func (e *unreachableError) Error() string {
	text := fmt.Sprintf("%s cannot be reached: %v", e.address, e.err)
	if e.again {
		return "not tried: " + text
	}
	return text
}

func (e *unreachableError) Unwrap() error { return e.err }

// fetch downloads an asset, whose URLs it gets from urls. The first connection
// decides: where none comes about, what follows is better than trying on.
func (n *network) fetch(ctx context.Context, c Config, asset fetch.Asset, urls func(*fetch.Client) []string, dir string, step stepper) (string, error) {
	var failures []error
	for i := 0; ; i++ {
		ctx, cancel := context.WithCancelCause(ctx)
		client, err := fetch.New(n.options(c, asset.Name, step, cancel))
		if err != nil {
			cancel(nil)
			return "", fmt.Errorf("%s: %w", fetch.EnvMirror, err)
		}
		all := urls(client)
		if i == 0 {
			step.say(fmt.Sprintf("downloading %s, %.1f MB", asset.Name, float64(asset.Size)/1e6))
		}
		asset.URLs = all[i : i+1]
		path, err := client.Fetch(ctx, asset, dir)
		cancel(nil)
		if err == nil {
			return path, nil
		}
		if failures = append(failures, err); i+1 == len(all) {
			return "", errors.Join(failures...)
		}
	}
}

func (n *network) options(c Config, name string, step stepper, unreachable func(error)) fetch.Options {
	o := fetch.FromEnvironment(c.getenv)
	o.Stall, o.Attempts, o.MaxWait, o.Log = stallLimit, fetchTrials, maxPause, c.Log
	o.Progress, o.Transport = secondly(name, step), n.transport(unreachable)
	return o
}

// secondly makes at most one step a second of a download's progress.
func secondly(name string, step stepper) func(done, total int64) {
	last := time.Now()
	return func(done, total int64) {
		if now := time.Now(); now.Sub(last) >= time.Second {
			last = now
			step(fmt.Sprintf("downloading %s, %.1f of %.1f MB", name, float64(done)/1e6, float64(total)/1e6), done, total)
		}
	}
}

// transport calls unreachable when not even the first connection comes about.
// Later failures are the download's own to retry.
func (n *network) transport(unreachable func(error)) http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	dialer := net.Dialer{Timeout: dialLimit} // finding the address included
	var connected atomic.Bool
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if err := n.known(address); err != nil {
			unreachable(err)
			return nil, err
		}
		conn, err := dialer.DialContext(ctx, network, address)
		if err == nil {
			connected.Store(true)
		} else if ctx.Err() == nil && !connected.Load() {
			err = n.bury(address, err)
			unreachable(err)
		}
		return conn, err
	}
	t.TLSHandshakeTimeout, t.ResponseHeaderTimeout = dialLimit, stallLimit
	return t
}

// known returns why there is no connection to a server that was tried before.
func (n *network) known(address string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.dead[address]; err != nil {
		return &unreachableError{address, true, err}
	}
	return nil
}

func (n *network) bury(address string, err error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dead == nil {
		n.dead = make(map[string]error)
	}
	n.dead[address] = err
	return &unreachableError{address, false, err}
}
