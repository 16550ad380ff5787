package java

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

func TestAKilledHelperIsStartedAgain(t *testing.T) {
	f := ownFrontEnd(t, Options{})
	parse(t, f, "A.java", "class A {}")
	first := f.Status()
	if first.PID == 0 || first.RSS < 1<<20 || first.HeapLimit != 768<<20 || first.Home == "" {
		t.Fatalf("status %+v", first)
	}
	if err := syscall.Kill(first.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := parse(t, f, "B.java", "class B {}"); len(got.Declarations) != 1 || !got.Complete {
		t.Errorf("after a kill: %+v", got)
	}
	if second := f.Status(); second.PID == first.PID || second.PID == 0 {
		t.Errorf("status %+v after the kill of %d", second, first.PID)
	}
}

func TestCloseEndsTheHelper(t *testing.T) {
	f := ownFrontEnd(t, Options{})
	parse(t, f, "A.java", "class A {}")
	pid := f.Status().PID
	f.Close()
	if err := syscall.Kill(pid, 0); err == nil {
		t.Errorf("process %d lives", pid)
	}
	if _, err := f.Parse(t.Context(), []semantic.File{{Path: "A.java"}}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if s := f.Status(); s != (Status{}) {
		t.Errorf("status after Close: %+v", s)
	}
}

// TestAnOrphanEnds closes the helper's standard input, which is what the death of
// the server does.
func TestAnOrphanEnds(t *testing.T) {
	f := ownFrontEnd(t, Options{})
	parse(t, f, "A.java", "class A {}")
	f.process.stdin.Close()
	done := make(chan struct{})
	go func() { f.process.cmd.Process.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("the helper outlives its input")
	}
}

func TestAHelperAtRestEnds(t *testing.T) {
	f := ownFrontEnd(t, Options{Idle: time.Millisecond})
	parse(t, f, "A.java", "class A {}")
	for deadline := time.Now().Add(20 * time.Second); f.Status().PID != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the helper stays")
		}
	}
}

func TestATimeLimitIsAnAnswerAboutTheFile(t *testing.T) {
	f := ownFrontEnd(t, Options{ParseTime: time.Nanosecond})
	got := parse(t, f, "A.java", "class A {}")
	if got.Complete || len(got.Problems) != 1 || !strings.Contains(got.Problems[0].Message, "took more than 1ns") {
		t.Errorf("got %+v", got)
	}
}

func TestACancelledCallReturns(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := frontEnd(t).Parse(ctx, []semantic.File{{Path: "A.java"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestAFullHeapIsBounded gives a small heap a large file: the process dies of it or
// is killed, the answer is about the file, and the next file is answered.
func TestAFullHeapIsBounded(t *testing.T) {
	f := ownFrontEnd(t, Options{HeapMiB: 32, ParseTime: 2 * time.Second})
	got := parse(t, f, "Big.java", "class Big { int[] x = {"+strings.Repeat("1,", 500_000)+"}; }")
	if got.Complete || len(got.Problems) != 1 || !strings.Contains(got.Problems[0].Message, "broke down") {
		t.Errorf("the large file: %+v", got)
	}
	f.options.ParseTime = 0 // the small file may take its time on a busy machine
	f.options = f.options.withDefaults()
	if got := parse(t, f, "A.java", "class A {}"); !got.Complete || len(got.Declarations) != 1 {
		t.Errorf("the small file: %+v", got)
	}
}

func TestNoOptionOfTheEnvironmentReachesTheJVM(t *testing.T) {
	for _, name := range []string{"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JDK_JAVAC_OPTIONS"} {
		t.Setenv(name, "-no-such-option")
	}
	f := ownFrontEnd(t, Options{})
	if got := parse(t, f, "A.java", "class A {}"); !got.Complete {
		t.Errorf("got %+v", got)
	}
}

func TestWithoutAJDK(t *testing.T) {
	saved := places
	places = nil
	defer func() { places = saved }()
	f := New(Options{Dir: t.TempDir(), Getenv: func(string) string { return "" }})
	defer f.Close()
	_, err := f.Parse(t.Context(), []semantic.File{{Path: "A.java"}})
	if !errors.Is(err, semantic.ErrUnavailable) || !strings.Contains(err.Error(), "JDK of version 11") {
		t.Errorf("got %v", err)
	}
}

// TestAnOldJDKIsPassedOver has JAVA_HOME name a JDK that says it is of version 8
// and PATH one that works, behind a script as managers of JDKs install it.
func TestAnOldJDKIsPassedOver(t *testing.T) {
	frontEnd(t)
	good := shared.options.Getenv("JAVA_HOME")
	old, shims := t.TempDir(), t.TempDir()
	script := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script(filepath.Join(old, "bin", "java"), `echo 'openjdk version "1.8.0_392"' >&2`)
	script(filepath.Join(old, "bin", "javac"), "exit 1")
	if err := os.Mkdir(filepath.Join(old, "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	script(filepath.Join(shims, "javac"), `exec "`+good+`/bin/javac" "$@"`)
	env := map[string]string{"JAVA_HOME": old, "PATH": shims}
	found, err := findJDK(t.Context(), func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := filepath.EvalSymlinks(good); found.home != want {
		t.Errorf("found %+v, want %s", found, want)
	}
	if found.feature < oldest || !strings.HasPrefix(found.version, strings.Split(found.version, ".")[0]) {
		t.Errorf("version of %+v", found)
	}
}

func TestFeatureOf(t *testing.T) {
	for version, want := range map[string]int{"17.0.9": 17, "1.8.0_392": 8, "25": 25, "21-ea": 21, "": 0, "x": 0} {
		if got := featureOf(version); got != want {
			t.Errorf("featureOf(%q) = %d, want %d", version, got, want)
		}
	}
}
