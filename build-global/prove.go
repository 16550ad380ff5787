package buildglobal

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain/unpack"
)

// proofTime is the limit of one program's run, emulated and on a busy machine.
const proofTime = time.Minute

// Prove unpacks an archive under an awkward name and uses it: each program tells
// the version that it should have, gtags indexes a C and a Python file, global
// finds definitions and a reference in them, and ctags answers over its
// interactive protocol. runner is put in front of every program; nil runs them
// directly.
func Prove(ctx context.Context, archive string, runner []string) error {
	dir, err := os.MkdirTemp("", "build-global-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := &proof{home: filepath.Join(dir, "höme of $tools, all"), runner: runner}
	if err := unpack.Unpack(ctx, archive, p.home, unpack.Limits{}); err != nil {
		return err
	}
	p.bin = filepath.Join(p.home, "bin")
	if err := os.WriteFile(filepath.Join(p.home, "gtags.conf"), []byte(proofConf), 0o644); err != nil {
		return err
	}
	if runner != nil {
		if err := p.wrap(); err != nil {
			return err
		}
	}
	for _, step := range []func(context.Context) error{p.versions, p.index, p.interactive} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("proof of %s: %w", filepath.Base(archive), err)
		}
	}
	return nil
}

type proof struct {
	home, bin string
	runner    []string
}

// wrap makes a script for each program, because gtags starts ctags by itself.
func (p *proof) wrap() error {
	wrapped := filepath.Join(p.home, "wrapped")
	if err := os.Mkdir(wrapped, 0o755); err != nil {
		return err
	}
	for _, name := range Programs {
		var line []string
		for _, word := range append(slices.Clone(p.runner), filepath.Join(p.bin, name)) {
			line = append(line, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
		}
		script := "#!/bin/sh\nexec " + strings.Join(line, " ") + ` "$@"` + "\n"
		if err := os.WriteFile(filepath.Join(wrapped, name), []byte(script), 0o755); err != nil {
			return err
		}
	}
	p.bin = wrapped
	return nil
}

// run starts a program as an installed toolchain would be: nothing of the
// user's environment, and no other folder in PATH.
func (p *proof) run(ctx context.Context, dir, stdin, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, proofTime, fmt.Errorf("no end after %s", proofTime))
	defer cancel()
	return runOutput(ctx, append([]string{filepath.Join(p.bin, name)}, args...), func(c *exec.Cmd) {
		c.Dir = dir
		c.Stdin = strings.NewReader(stdin)
		c.Env = []string{"PATH=" + p.bin, "HOME=" + p.home, "LC_ALL=C", "GTAGSCONF=" + filepath.Join(p.home, "gtags.conf")}
	})
}

func (p *proof) versions(ctx context.Context) error {
	for name, want := range map[string]string{
		"gtags":  "gtags (GNU Global) " + source("global").Version + "\n",
		"global": "global (GNU Global) " + source("global").Version + "\n",
		"ctags":  "Universal Ctags " + source("ctags").Version + ",",
	} {
		out, err := p.run(ctx, p.home, "", name, "--version")
		if err != nil {
			return err
		}
		if !strings.HasPrefix(out, want) {
			return fmt.Errorf("%s --version says %.60q, expected %q", name, out, want)
		}
	}
	return nil
}

const (
	proofConf = "default:\\\n\t:gtags_parser=Python\\:universal-ctags:\\\n\t:ctagscom=ctags:\\\n\t:langmap=c\\:.c.h,Python\\:.py:\n"
	proofC    = "static int add(int a, int b)\n{\n\treturn a + b;\n}\n\nint main(void)\n{\n\treturn add(1, 2);\n}\n"
	proofPy   = "class Kind:\n    def method(self):\n        return helper(1)\n\n\ndef helper(x):\n    return x\n"
)

func (p *proof) index(ctx context.Context) error {
	root := filepath.Join(p.home, "a sample 字")
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"one file.c": proofC,
		"字.py":       proofPy,
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if _, err := p.run(ctx, root, "", "gtags"); err != nil {
		return err
	}
	for _, q := range []struct{ flag, name, want string }{
		{"-d", "add", "one file.c:1"},
		{"-d", "main", "one file.c:6"},
		{"-r", "add", "one file.c:8"},
		{"-d", "Kind", "字.py:1"},
		{"-d", "method", "字.py:2"},
		{"-d", "helper", "字.py:6"},
	} {
		out, err := p.run(ctx, root, "", "global", "--result=grep", q.flag, q.name)
		if err != nil {
			return err
		}
		if !strings.HasPrefix(out, q.want+":") || strings.Count(out, "\n") != 1 {
			return fmt.Errorf("global %s %s answers %q, expected one line at %s", q.flag, q.name, out, q.want)
		}
	}
	return nil
}

func (p *proof) interactive(ctx context.Context) error {
	request := fmt.Sprintf("{\"command\":\"generate-tags\",\"filename\":\"x.c\",\"size\":%d}\n%s", len(proofC), proofC)
	out, err := p.run(ctx, p.home, request, "ctags", "--options=NONE", "--_interactive", "--fields=+neKSt")
	if err != nil {
		return err
	}
	for _, want := range []string{`"name": "add"`, `"end": 4`, `"signature": "(int a,int b)"`, `"_type": "completed"`} {
		if !strings.Contains(out, want) {
			return fmt.Errorf("ctags --_interactive: no %s in the answer %q", want, out)
		}
	}
	return nil
}
