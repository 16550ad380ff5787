package bootstrap

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain"
)

// machine stands for package toolchain: what is installed, and what an install does.
type machine struct {
	mu       sync.Mutex
	set      *toolchain.Set // what Locate finds
	looks    int
	installs int
	proceed  chan error // each install waits for its outcome
}

func (m *machine) gate(opts Options) *Gate {
	g := New(opts)
	g.locate = func(context.Context, toolchain.Config) (*toolchain.Set, toolchain.Report) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.looks++
		return m.set, toolchain.Report{Rungs: []toolchain.RungReport{{Rung: "system", Detail: "no gtags found"}}}
	}
	g.install = func(ctx context.Context, _ toolchain.Config, step func(toolchain.Step)) (*toolchain.Set, toolchain.Report, error) {
		m.mu.Lock()
		m.installs++
		m.mu.Unlock()
		step(toolchain.Step{Rung: "distro", Text: "unpacking"})
		select {
		case err := <-m.proceed:
			m.mu.Lock()
			defer m.mu.Unlock()
			if err == nil {
				m.set = presentSet()
			}
			return m.set, toolchain.Report{}, err
		case <-ctx.Done():
			return nil, toolchain.Report{}, ctx.Err()
		}
	}
	return g
}

var errFailed = &toolchain.InstallError{Report: toolchain.Report{
	Rungs: []toolchain.RungReport{{Rung: "distro", Detail: "no network"}}, Hint: "Type: something",
}}

// presentSet is a set whose files exist.
func presentSet() *toolchain.Set {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return &toolchain.Set{Rung: toolchain.RungDistro, Gtags: toolchain.Program{Path: self}, Global: toolchain.Program{Path: self}}
}

func TestPresentToolchainIsLookedForOnce(t *testing.T) {
	m := &machine{}
	m.set = presentSet()
	g := m.gate(Options{NoAutoSetup: true})
	defer g.Close()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if set, err := g.Ready(t.Context()); err != nil || set != m.set {
				t.Errorf("got %v, %v, want the set", set, err)
			}
		})
	}
	wg.Wait()
	if m.looks != 1 {
		t.Errorf("looked %d times, want once", m.looks)
	}
}

func TestRemovedToolchainIsNoticed(t *testing.T) {
	m := &machine{proceed: make(chan error)}
	gtags := filepath.Join(t.TempDir(), "gtags")
	if err := os.WriteFile(gtags, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	m.set = &toolchain.Set{Gtags: toolchain.Program{Path: gtags}, Global: toolchain.Program{Path: gtags}}
	g := m.gate(Options{NoAutoSetup: true})
	defer g.Close()
	if _, err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gtags); err != nil {
		t.Fatal(err)
	}
	m.set = nil
	var disabled *DisabledError
	if _, err := g.Ready(t.Context()); !errors.As(err, &disabled) {
		t.Errorf("got %v, want a DisabledError", err)
	}
}

func TestMissingToolchainStartsOneInstall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{proceed: make(chan error)}
		g := m.gate(Options{})
		defer g.Close()
		changed := g.Changed()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				_, err := g.Ready(t.Context())
				var notReady *NotReadyError
				if !errors.As(err, &notReady) || notReady.Retry <= 0 {
					t.Errorf("got %v, want a NotReadyError", err)
				}
			})
		}
		wg.Wait()
		<-changed
		time.Sleep(12 * time.Second)
		_, err := g.Ready(t.Context())
		for _, want := range []string{"12s elapsed", "unpacking", "retry in"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q in it", err, want)
			}
		}
		if step, ok := g.Step(); !ok || step.Text != "unpacking" {
			t.Errorf("got step %+v, %v", step, ok)
		}
		changed = g.Changed()
		m.proceed <- nil
		<-changed
		if set, err := g.Ready(t.Context()); err != nil || set != m.set {
			t.Errorf("after the install: got %v, %v, want the set", set, err)
		}
		if m.installs != 1 {
			t.Errorf("got %d installs, want one", m.installs)
		}
	})
}

func TestDisabledSaysWhatToType(t *testing.T) {
	m := &machine{proceed: make(chan error)}
	g := m.gate(Options{NoAutoSetup: true})
	defer g.Close()
	_, err := g.Ready(t.Context())
	var disabled *DisabledError
	if !errors.As(err, &disabled) || !strings.Contains(err.Error(), "gtagsmcp setup") || !strings.Contains(err.Error(), "no gtags found") {
		t.Errorf("got %v, want a DisabledError with what was looked at and what to type", err)
	}
	m.set = presentSet() // the user typed it
	if _, err := g.Ready(t.Context()); err != nil {
		t.Errorf("after the user's own setup: got %v", err)
	}
	if m.installs != 0 {
		t.Errorf("got %d installs, want none", m.installs)
	}
}

func TestFailedInstallIsRetriedAfterABackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{proceed: make(chan error, 1)}
		g := m.gate(Options{})
		defer g.Close()
		ready := func() error {
			_, err := g.Ready(t.Context())
			synctest.Wait()
			return err
		}
		var notReady *NotReadyError
		var failed *FailedError
		for round, wait := range []time.Duration{backOff, 2 * backOff, 4 * backOff} {
			if err := ready(); !errors.As(err, &notReady) {
				t.Fatalf("round %d: got %v, want an install under way", round, err)
			}
			m.proceed <- errFailed
			synctest.Wait()
			err := ready()
			if !errors.As(err, &failed) || failed.Retry != wait {
				t.Fatalf("round %d: got %v, want a FailedError with retry in %v", round, err, wait)
			}
			for _, want := range []string{"distro: no network", "Type: something", "tries again"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
			time.Sleep(wait - time.Second)
			if err := ready(); !errors.As(err, &failed) || m.installs != round+1 {
				t.Errorf("round %d, early: got %v and %d installs", round, err, m.installs)
			}
			time.Sleep(time.Second)
		}
		m.proceed <- nil
		if err := ready(); err != nil && !errors.As(err, &notReady) {
			t.Errorf("got %v", err)
		}
		if err := ready(); err != nil {
			t.Errorf("after a good install: got %v", err)
		}
	})
}

func TestReadyDoesNotWaitForASlowLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{})
		defer g.Close()
		g.locate = func(ctx context.Context, _ toolchain.Config) (*toolchain.Set, toolchain.Report) {
			<-ctx.Done()
			return nil, toolchain.Report{}
		}
		g.install = func(ctx context.Context, _ toolchain.Config, _ func(toolchain.Step)) (*toolchain.Set, toolchain.Report, error) {
			return nil, toolchain.Report{}, ctx.Err()
		}
		began := time.Now()
		var notReady *NotReadyError
		if _, err := g.Ready(t.Context()); !errors.As(err, &notReady) || time.Since(began) > lookPatience {
			t.Errorf("got %v after %v, want a NotReadyError within %v", err, time.Since(began), lookPatience)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := g.Ready(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
}

// A server that finds a toolchain of an older version serves with it, and with
// the other one once that was installed beside it.
func TestGateFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{set: presentSet()}
		newer := presentSet()
		tries := 0
		behind, tried := "an old one is in use", time.Time{}
		ofSystem := presentSet()
		ofSystem.Rung = toolchain.RungSystem
		managed := m.set
		for i, opts := range []Options{{Follow: true}, {}, {Follow: true, NoAutoSetup: true}, {Follow: true}} {
			if i == 3 { // what is in the home is not what is used
				m.set = ofSystem
			}
			g := m.gate(opts)
			g.behind = func(toolchain.Config) (string, time.Time) { return behind, tried }
			g.follow = func(context.Context, toolchain.Config, func(toolchain.Step)) (*toolchain.Set, toolchain.Report, error) {
				if tries++; tries < 3 {
					tried = time.Now()
					return nil, toolchain.Report{}, errFailed
				}
				return newer, toolchain.Report{}, nil
			}
			began := time.Now()
			if set, err := g.Ready(t.Context()); err != nil || set != m.set {
				t.Fatalf("got %v, %v, want the old set at once", set, err)
			}
			if !opts.Follow || opts.NoAutoSetup || m.set != managed {
				time.Sleep(24 * time.Hour)
				if tries != 0 {
					t.Errorf("%+v: followed", opts)
				}
				g.Close()
				continue
			}
			<-g.Changed() // the look
			if set, err := g.Ready(t.Context()); err != nil || set != newer || tries != 3 {
				t.Errorf("got %v, %v after %d tries, want the new set after 3", set, err, tries)
			}
			if took := time.Since(began); took < 2*followEvery || took > 3*followEvery {
				t.Errorf("three tries took %v", took)
			}
			g.Close()
			tries, tried = 0, time.Time{}
		}
	})
}
