package java

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed helper/*.java
var helperSources embed.FS

// mainClass is what the JVM starts.
const mainClass = "gtagsmcp.Helper"

// install returns the folder of the compiled helper, compiling it when this JDK
// has not done so yet. The folder's name holds a digest of the sources and the
// JDK's version, so that neither an upgrade of ours nor one of the JDK's runs stale
// classes.
func install(ctx context.Context, j jdk, dir string) (string, error) {
	sum, err := digest(j)
	if err != nil {
		return "", err
	}
	classes := filepath.Join(dir, sum)
	if _, err := os.Stat(classes); err == nil {
		return classes, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(dir, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := compile(ctx, j, work); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(work, "classes"), classes); err != nil {
		if _, other := os.Stat(classes); other == nil {
			return classes, nil // another process was faster
		}
		return "", err
	}
	return classes, nil
}

// compile writes the classes into work/classes.
func compile(ctx context.Context, j jdk, work string) error {
	if err := os.CopyFS(work, helperSources); err != nil {
		return err
	}
	args := []string{"-proc:none", "-nowarn", "-encoding", "UTF-8", "--release", fmt.Sprint(oldest), "-d", filepath.Join(work, "classes")}
	files, err := filepath.Glob(filepath.Join(work, "helper", "*.java"))
	if err != nil {
		return err
	}
	if _, err := run(ctx, compileTime, environment(), filepath.Join(j.home, "bin", program("javac")), append(args, files...)...); err != nil {
		return fmt.Errorf("the JDK at %s does not compile the helper: %w", j.home, err)
	}
	return nil
}

func digest(j jdk) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%s\n", j.version, j.home)
	err := fs.WalkDir(helperSources, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := helperSources.ReadFile(path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(content), content)
		return err
	})
	version := strings.Map(func(r rune) rune {
		if strings.ContainsRune("0123456789.", r) {
			return r
		}
		return -1
	}, j.version)
	return "jdk-" + version + "-" + hex.EncodeToString(sum.Sum(nil))[:16], err
}
