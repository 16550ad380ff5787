package toolchain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/toolchain/unpack"
)

const (
	archiveSpace   = 64 << 20  // an archive and what comes out of it: 17 MB were seen
	archiveMaximum = 256 << 20 // packed
)

// archiveLayout says where the parts of a prebuilt archive belong in a generation.
var archiveLayout = []struct{ from, to string }{
	{"bin", "bin"},
	{"lib", "lib"},
	{"pygments", "share/python/pygments"},
	{"licences", "share/doc"},
	{"manifest.json", "manifest.json"},
}

func planArchive(c Config) (string, error) {
	if info, err := os.Stat(c.From); err != nil {
		return "", err
	} else if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a file", c.From)
	}
	if err := needSpace(c.Home, archiveSpace); err != nil {
		return "", err
	}
	return fmt.Sprintf("check %s, unpack it below %s and prove what it holds", c.From, c.Home), nil
}

// installArchive is the rung of an archive that the user has. The copy that was
// digested is the one that is unpacked, whatever happens to the file meanwhile.
func installArchive(ctx context.Context, c Config, staged string, step stepper) (string, error) {
	if _, err := planArchive(c); err != nil {
		return "", err
	}
	step.say("checking " + c.From)
	archive := filepath.Join(staged, "archive")
	sum, err := copyDigested(archive, c.From)
	if err != nil {
		return "", err
	}
	id, err := c.vouch(sum)
	if err != nil {
		return "", err
	}
	return id, unpackArchive(ctx, archive, staged, step)
}

// vouch returns the name of the generation to be made from an archive with this
// digest, or an error when nothing says that the archive may be used.
func (c Config) vouch(sum string) (id string, err error) {
	p, err := c.readPins()
	if err != nil {
		return "", err
	}
	if c.SHA256 != "" && !strings.EqualFold(c.SHA256, sum) {
		return "", fmt.Errorf("%s has the SHA-256 %s, not %s: get the file again", c.From, sum, c.SHA256)
	}
	if a, ok := p.byDigest(sum); ok {
		return p.generation(a), nil
	}
	if c.SHA256 == "" && !c.Unverified {
		return "", fmt.Errorf("%s has the SHA-256 %s, which is none of toolchain %s: get the file of that release again, "+
			"or name the digest that you have from a source you trust with --sha256, or, to run its programs though nothing vouches for them, pass --unverified", c.From, sum, p.Version)
	}
	return "local-" + sum[:16], nil
}

// copyDigested copies a file and returns the copy's SHA-256 in hexadecimal.
func copyDigested(dst, src string) (string, error) {
	in, err := os.Open(src)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, hash), io.LimitReader(in, archiveMaximum+1))
	if err = errors.Join(err, out.Close()); err != nil {
		return "", fmt.Errorf("copying %s: %w", src, err)
	}
	if n > archiveMaximum {
		return "", fmt.Errorf("%s is larger than %d MB: no archive of a toolchain", src, archiveMaximum>>20)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// unpackArchive turns an archive into a generation in staged, and refuses at once
// what cannot run here.
func unpackArchive(ctx context.Context, archive, staged string, step stepper) error {
	step.say("unpacking " + filepath.Base(archive))
	root := filepath.Join(staged, "unpacked")
	if err := unpack.Unpack(ctx, archive, root, unpack.Limits{}); err != nil {
		return err
	}
	for _, part := range archiveLayout {
		to := filepath.Join(staged, part.to)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(root, part.from), to); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	for _, name := range []string{"gtags", "global", "ctags"} {
		path := filepath.Join(staged, "bin", name)
		switch {
		case exists(path):
			if err := preflight(path, filepath.Join(staged, "lib")); err != nil {
				return err
			}
		case name != "ctags": // without it, what is lacking is told
			return fmt.Errorf("the archive holds no bin/%s", name)
		}
	}
	return errors.Join(os.RemoveAll(root), os.Remove(archive))
}
