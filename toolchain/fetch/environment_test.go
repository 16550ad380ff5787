package fetch_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

// TestMain lets the test binary play the program that downloads: Go reads the
// proxy variables and the system's certificates once a process, so tests of
// them need a process each. Arguments: URL, SHA-256, size, folder.
func TestMain(m *testing.M) {
	if len(os.Args) == 6 && os.Args[1] == "download" {
		os.Exit(download(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func download(args []string) int {
	a := fetch.Asset{Name: fileName, URLs: args[:1], SHA256: args[1]}
	_, err := fmt.Sscan(args[2], &a.Size)
	if err == nil {
		var c *fetch.Client
		c, err = fetch.New(fetch.Options{Attempts: 1, Backoff: time.Millisecond})
		if err == nil {
			_, err = c.Fetch(context.Background(), a, args[3])
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// child runs the test binary as a downloader with env added to an environment
// without proxies and certificates of its own.
func child(t *testing.T, env []string, args ...string) (string, error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, append([]string{"download"}, args...)...)
	cmd.Env = append([]string{"TMPDIR=" + t.TempDir()}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func trusting(t *testing.T, s *releasetest.Server) http.RoundTripper {
	t.Helper()
	cert, err := x509.ParseCertificate(s.Cert)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

func TestCustomCA(t *testing.T) {
	body := content(200 << 10)
	s := publish(releasetest.NewTLS(t), body)
	args := []string{s.AssetURL(repo, tag, fileName), releasetest.Digest(body), fmt.Sprint(len(body)), t.TempDir()}

	out, err := child(t, nil, args...)
	if err == nil || !strings.Contains(out, "unknown authority") || !strings.Contains(out, "SSL_CERT_FILE") {
		t.Errorf("without the certificate: %v, %q; want a hint at SSL_CERT_FILE", err, out)
	}
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	overwrite(t, bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Cert}))
	if out, err := child(t, []string{"SSL_CERT_FILE=" + bundle}, args...); err != nil {
		t.Fatalf("with SSL_CERT_FILE: %v, %s", err, out)
	}
	wantFile(t, filepath.Join(args[3], fileName), body)
}

// TestProxy: the host does not exist, so only a proxy can lead anywhere.
func TestProxy(t *testing.T) {
	body := content(200 << 10)
	s := serve(t, body)
	var proxied atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proxied.Add(1)
		resp, err := http.Get(s.Objects + repo + "/" + tag + "/" + fileName)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		_, _ = io.Copy(w, resp.Body)
	}))
	t.Cleanup(proxy.Close)
	args := []string{"http://release.invalid/tool", releasetest.Digest(body), fmt.Sprint(len(body)), t.TempDir()}
	if out, err := child(t, []string{"HTTP_PROXY=" + proxy.URL}, args...); err != nil {
		t.Fatalf("%v, %s", err, out)
	}
	wantFile(t, filepath.Join(args[3], fileName), body)
	if proxied.Load() != 1 {
		t.Errorf("%d requests through the proxy, want 1", proxied.Load())
	}
	args[3] = t.TempDir()
	if out, err := child(t, []string{"HTTP_PROXY=" + proxy.URL, "NO_PROXY=release.invalid"}, args...); err == nil {
		t.Errorf("NO_PROXY was not honoured: %s", out)
	}
}
