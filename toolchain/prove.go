package toolchain

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The sample that a toolchain must index: C, and a language that goes through
// ctags, under a name with a blank and a name that is not ASCII.
const (
	sampleC        = "with blank.c"
	samplePython   = "n\u00e4me \u6f22.py"
	sampleCText    = "int proof_callee(int n)\n{\n\treturn n;\n}\n\nint proof_caller(void)\n{\n\treturn proof_callee(1);\n}\n"
	samplePyText   = "class ProofClass:\n    def proof_method(self):\n        pass\n\n\nProofClass().proof_method()\n"
	proofTimeLimit = 20 * time.Second
)

// prove indexes and queries the sample with the environment and label that will
// be used, unless the very same files have been proved before.
func (s *scout) prove(ctx context.Context, p parts, conf string) error {
	key := cacheKey("proof", identity(p.gtags.Path), identity(p.global.Path), p.ctagsIdentity(),
		identity(p.helper), strings.Join(p.plugins, ":"), digest(conf), p.label, p.gtags.libs, s.cfg.getenv("TMPDIR"))
	var proved bool
	if s.cache.get(key, &proved) && proved {
		return nil
	}
	if err := proveFresh(ctx, s.cfg, p); err != nil {
		return err
	}
	if !isScript(p.gtags.Path) && !isScript(p.global.Path) {
		s.cache.put(key, true)
	}
	return nil
}

func (p parts) ctagsIdentity() string {
	if p.ctags == nil {
		return ""
	}
	return identity(p.ctags.Path)
}

func proveFresh(ctx context.Context, cfg Config, p parts) error {
	dir, err := os.MkdirTemp(cfg.getenv("TMPDIR"), "gtagsmcp-proof-*")
	if err != nil {
		return fmt.Errorf("functional proof: %w", err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{sampleC: sampleCText, samplePython: samplePyText} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("functional proof: %w", err)
		}
	}
	env := gtagsEnv(cfg, p)
	r := command{path: p.gtags.Path, env: env, dir: dir, timeout: proofTimeLimit}.run(ctx)
	if err := explain(p.gtags.Path, r); err != nil {
		return fmt.Errorf("functional proof with label %s: %w", p.label, err)
	}
	// gtags exits 0 when it has lost names, so only the answers count.
	type query struct{ what, flag, symbol, file string }
	queries := []query{
		{"a definition in C", "-dx", "proof_callee", sampleC},
		{"a reference in C", "-rx", "proof_callee", sampleC},
	}
	if p.label == LabelCtags {
		queries = append(queries, query{"a definition in Python", "-dx", "proof_method", samplePython},
			query{"a reference in Python", "-rx", "proof_method", samplePython})
	}
	for _, q := range queries {
		out, err := output(ctx, command{path: p.global.Path, env: env, dir: dir, args: []string{q.flag, q.symbol}, timeout: proofTimeLimit})
		if err != nil {
			return fmt.Errorf("functional proof with label %s: %w", p.label, err)
		}
		if !strings.HasPrefix(out, q.symbol+" ") || !strings.Contains(out, q.file) {
			return fmt.Errorf("functional proof with label %s: %s was not found (global %s %s said %q; gtags said %q)",
				p.label, q.what, q.flag, q.symbol, firstLine([]byte(out)), firstLine(r.stderr))
		}
	}
	return nil
}
