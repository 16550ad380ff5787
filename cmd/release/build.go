package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/release"
)

const module = "github.com/gtagsmcp/gtagsmcp"

// build writes the files of a release that need no key. It empties the folder
// first: a file left over from another version would be signed with the rest.
func build(ctx context.Context, o options) error {
	trial, err := trialKey(o.public)
	if err != nil {
		return err
	}
	date, err := sourceDate(ctx)
	if err != nil {
		return err
	}
	if err := emptied(o.dist); err != nil {
		return err
	}
	if err := os.MkdirAll(o.programs, 0o755); err != nil {
		return err
	}
	var programs []string
	for _, p := range release.Platforms {
		program := filepath.Join(o.programs, release.Program+"-"+p.String())
		if err := compile(ctx, o.tag, trial, p, program); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if err := pack(o.path(p.Archive()), program, date); err != nil {
			return err
		}
		fmt.Fprintln(o.log, "made", o.path(p.Archive()))
		programs = append(programs, program)
	}
	if err := writeBill(o.path(release.BillFile), o.tag, date, programs); err != nil {
		return err
	}
	return writeInstaller(o, o.path(release.InstallerFile))
}

// trialKey returns the public key to link into the programs: none when they
// embed the right one already.
func trialKey(path string) (string, error) {
	key, err := readPublic(path)
	if errors.Is(err, release.ErrNoKey) {
		return "", fmt.Errorf("%s holds no key yet: \"make release-key\" makes one; for a trial release name another public key with -public", path)
	}
	if err != nil || path == committedPublic {
		return "", err
	}
	return key.String(), nil
}

// sourceDate is the date of everything: SOURCE_DATE_EPOCH, else that of the
// commit.
func sourceDate(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.CommandContext(ctx, "git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("no SOURCE_DATE_EPOCH, and git log: %w", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// emptied makes dir an empty folder, and refuses one that holds anything but a
// release.
func emptied(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	known := releaseFiles()
	for _, p := range release.Platforms {
		known[release.Program+"-"+p.String()] = true // make bundle leaves them
	}
	for _, e := range entries {
		if !known[e.Name()] {
			return fmt.Errorf("%s is no file of a release: empty the folder yourself", filepath.Join(dir, e.Name()))
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o755)
}

func releaseFiles() map[string]bool {
	known := map[string]bool{release.SumsFile: true, release.SignatureFile: true}
	for _, name := range release.Assets() {
		known[name] = true
	}
	return known
}

// compile links one program. The state of the repository stays out of it: the
// version names the commit, and a file that happens to lie beside the sources
// would change the bytes.
func compile(ctx context.Context, tag, trial string, p release.Platform, out string) error {
	link := "-s -w -buildid= -X main.released=" + tag
	if trial != "" {
		link += " -X " + module + "/bootstrap.trialKey=" + trial
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", link, "-o", out, "./cmd/gtagsmcp")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=",
		"GOOS="+p.OS, "GOARCH="+p.Arch)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, text)
	}
	return nil
}

// pack writes an archive whose bytes depend on the files and the date alone.
func pack(archive, program string, date time.Time) error {
	var out bytes.Buffer
	gz, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	tw := tar.NewWriter(gz)
	for _, f := range []struct {
		name, path string
		mode       int64
	}{{release.Program, program, 0o755}, {"LICENSE", "LICENSE", 0o644}, {"README.md", "README.md", 0o644}} {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(content)), ModTime: date, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		if _, err := tw.Write(content); err != nil {
			return err
		}
	}
	if err := errors.Join(tw.Close(), gz.Close()); err != nil {
		return err
	}
	return os.WriteFile(archive, out.Bytes(), 0o644)
}

// writeInstaller copies the installer with the key that the programs trust.
func writeInstaller(o options, to string) error {
	script, err := os.ReadFile(installer)
	if err != nil {
		return err
	}
	key, err := readPublic(o.public)
	if err != nil {
		return err
	}
	if script, err = withKey(script, key.String()); err != nil {
		return err
	}
	return os.WriteFile(to, script, 0o755)
}

// readLimited reads a small file, or standard input for "-".
func readLimited(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(io.LimitReader(os.Stdin, 64<<10))
	}
	return os.ReadFile(path)
}
