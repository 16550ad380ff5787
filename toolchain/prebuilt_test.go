package toolchain

import (
	"errors"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

// released serves two archives as the sets of a release, and returns a Config
// that has them in its lock file.
func released(t *testing.T, gnu, musl []byte) (*releasetest.Server, Config) {
	t.Helper()
	server := releasetest.New(t)
	locked := pins{Version: "6.6.14-7", Repository: "owner/name", Tag: "toolchain-6.6.14-7"}
	assets := make(map[string][]byte)
	for set, data := range map[string][]byte{"-gnu": gnu, "-musl": musl} {
		a := pin{Platform: "linux-" + runtime.GOARCH + set, Size: int64(len(data)), SHA256: releasetest.Digest(data)}
		a.Name = "toolchain-" + a.Platform + ".tar.gz"
		assets[a.Name] = data
		locked.Assets = append(locked.Assets, a)
	}
	server.Add(releasetest.Release{Repo: locked.Repository, Tag: locked.Tag, Assets: assets})
	environ := append(fromRepository(t, t.TempDir()), fetch.EnvMirror+"="+server.URL)
	return server, Config{Helper: helper(t), Environ: environ, pins: &locked}
}

// downloads counts the requests for the file of a set.
func downloads(server *releasetest.Server, set string) (n int) {
	for _, r := range server.Requests() {
		if strings.Contains(r.URL.Path, "/releases/download/") && strings.Contains(r.URL.Path, set) {
			n++
		}
	}
	return n
}

func TestPrebuilt(t *testing.T) {
	t.Parallel()
	good := packed(t, nil)
	broken := packed(t, map[string][]byte{"bin/gtags": mustRead(t, installed(t).Gtags.Path)[:20000]})
	lame := packed(t, map[string][]byte{"bin/ctags": []byte("#!/bin/sh\nexit 1\n")})
	tests := []struct {
		name      string
		gnu, musl []byte
		rung      string
		want      []string // of the report
		downloads int      // of the second set
	}{
		{"both good", good, good, RungPrebuilt, []string{"prebuilt  ok "}, 0},
		{"the first does not run", broken, good, RungPrebuilt, []string{"-gnu: ", string(CauseTruncated), "prebuilt  ok "}, 1},
		{"neither runs", broken, broken, RungDistro, []string{"-gnu: ", "-musl: ", "distro    ok "}, 1},
		{"the second is lame", broken, lame, RungPrebuilt, []string{"-gnu: ", "lacking: Universal Ctags"}, 1},
	}
	for _, tt := range tests {
		server, cfg := released(t, tt.gnu, tt.musl)
		if tt.rung == RungPrebuilt {
			cfg.Rung = RungPrebuilt
		}
		set, report, err := Install(t.Context(), cfg, nil)
		if err != nil || set.Rung != tt.rung {
			t.Errorf("%s: got %+v, %v, want a set by rung %s; report:\n%s", tt.name, set, err, tt.rung, report)
			continue
		}
		if tt.rung == RungPrebuilt && !strings.Contains(set.Gtags.Path, "/6.6.14-7-") {
			t.Errorf("%s: %s does not lie in a generation of the lock file's version", tt.name, set.Gtags.Path)
		}
		for _, want := range tt.want {
			if !strings.Contains(report.String(), want) {
				t.Errorf("%s: the report lacks %q:\n%s", tt.name, want, report)
			}
		}
		if first, second := downloads(server, "-gnu"), downloads(server, "-musl"); first != 1 || second != tt.downloads {
			t.Errorf("%s: got %d and %d downloads, want 1 and %d", tt.name, first, second, tt.downloads)
		}
	}
}

// What a server gets wrong ends at the next rung, with the reason in the report.
func TestPrebuiltFailsOver(t *testing.T) {
	t.Parallel()
	good := packed(t, nil)
	page := releasetest.Answer(http.StatusOK, "<html>log in</html>", "Content-Type", "text/html")
	cut := func(next http.Handler) http.Handler {
		return releasetest.WithoutRanges()(releasetest.CutAfter(1)(next))
	}
	tests := []struct {
		name  string
		fault releasetest.Middleware
		want  string
	}{
		{"404", releasetest.Answer(http.StatusNotFound, "not found"), "404 Not Found"},
		{"429", releasetest.Answer(http.StatusTooManyRequests, "", "Retry-After", "3600"), "429"},
		{"403", releasetest.RateLimited(), "rate limit"},
		{"500", releasetest.Answer(http.StatusInternalServerError, ""), "500"},
		{"an HTML page", page, "HTML page"},
		{"other bytes", releasetest.Answer(http.StatusOK, strings.Repeat("x", len(good)), "Content-Type", "application/gzip"), "wrong SHA-256"},
		{"fewer bytes", releasetest.Answer(http.StatusOK, "x", "Content-Type", "application/gzip"), "wrong size"},
		{"cut connections", cut, "EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server, cfg := released(t, good, good)
			server.Use(tt.fault)
			cfg.Rung = RungPrebuilt
			_, report, err := Install(t.Context(), cfg, nil)
			var failed *InstallError
			if !errors.As(err, &failed) || len(report.Rungs) != 2 {
				t.Fatalf("got %v, want an InstallError with a line for each set", err)
			}
			for _, line := range report.Rungs {
				if line.OK || !strings.Contains(line.Detail, tt.want) {
					t.Errorf("got %q, want a failure with %q", line.Detail, tt.want)
				}
			}
		})
	}
}

// Both sets are at one address: where no connection comes about, one try tells.
func TestUnreachableIsTriedOnce(t *testing.T) {
	t.Parallel()
	cfg := Config{Helper: helper(t), Environ: bareEnviron(t, t.TempDir()), Rung: RungPrebuilt}
	_, report, err := Install(t.Context(), cfg, nil)
	if err == nil || len(report.Rungs) != 2 || !strings.Contains(report.Rungs[0].Detail, "127.0.0.1:9 cannot be reached") ||
		!strings.Contains(report.Rungs[1].Detail, "not tried: ") {
		t.Errorf("got %v, report:\n%s", err, report)
	}
}

// A connection that breaks on the way is continued.
func TestPrebuiltOverABadLine(t *testing.T) {
	t.Parallel()
	good := packed(t, nil)
	server, cfg := released(t, good, good)
	server.Use(releasetest.When("-gnu", releasetest.Times(6, releasetest.CutAfter(len(good)/4))))
	cfg.Rung = RungPrebuilt
	set, report, err := Install(t.Context(), cfg, nil)
	if err != nil || !set.complete() || len(report.Rungs) != 1 {
		t.Errorf("got %+v, %v, want the first set; report:\n%s", set, err, report)
	}
	if n := downloads(server, "-gnu"); n < 2 {
		t.Errorf("got %d requests, want one for each piece", n)
	}
}

func TestFitsGlibc(t *testing.T) {
	for _, tt := range []struct{ set, present, want string }{
		{"linux-amd64-gnu", "2.28", ""},
		{"linux-amd64-gnu", "2.36", ""},
		{"linux-amd64-gnu", "2.17", "this system has 2.17"},
		{"linux-amd64-gnu", "", "this system has none"},
		{"linux-amd64-musl", "", ""},
		{"darwin-arm64", "", ""},
	} {
		err := fitsGlibc(tt.set, tt.present)
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s on %q: got %v, want %q", tt.set, tt.present, err, tt.want)
		}
	}
}

// Without ctags a toolchain is whole with the native languages alone.
func TestPrebuiltWithoutCtags(t *testing.T) {
	t.Parallel()
	good := packed(t, nil)
	_, cfg := released(t, good, good)
	cfg.NoCtags, cfg.Rung = true, RungPrebuilt
	set, report, err := Install(t.Context(), cfg, nil)
	if err != nil || !set.complete() || set.Ctags != nil || set.Label != LabelNative || len(set.Languages) != 0 || len(report.Rungs) != 1 {
		t.Errorf("got %+v, %v; report:\n%s", set, err, report)
	}
}
