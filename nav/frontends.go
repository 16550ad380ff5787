package nav

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
	"github.com/gtagsmcp/gtagsmcp/nav/semantic/golang"
	"github.com/gtagsmcp/gtagsmcp/nav/semantic/java"
)

// FrontEnds are the parsers and compilers of single languages. All workspaces of
// a process share them; close them last.
type FrontEnds struct {
	golang *golang.Tool
	java   *java.FrontEnd
}

// NewFrontEnds starts nothing: a front end does that when it is first asked.
func NewFrontEnds(g golang.Options, j java.Options) *FrontEnds {
	return &FrontEnds{golang: golang.New(g), java: java.New(j)}
}

// Close ends the processes of the front ends.
func (f *FrontEnds) Close() {
	f.golang.Close()
	f.java.Close()
}

func (f *FrontEnds) languages() []semantic.Language {
	return []semantic.Language{{
		Name: "Go", Extensions: []string{".go"},
		Parsers: []semantic.Parser{f.golang}, Resolver: f.golang, Moduler: f.golang, Qualify: golang.Qualify,
	}, {
		Name: "Java", Extensions: []string{".java"},
		Parsers: []semantic.Parser{f.java}, Resolver: f.java, Moduler: f.java,
	}}
}

// FrontEnd is what find_code has for one language beyond the parsers that all
// share.
type FrontEnd struct {
	Language string
	Detail   string
	// Missing is set when no program of the machine answers for the language.
	Missing bool
}

// Examine starts every front end, asks it something small, and says what it is
// and what memory its process takes and may take.
func (f *FrontEnds) Examine(ctx context.Context) []FrontEnd {
	return []FrontEnd{f.examineGo(ctx), f.examineJava(ctx)}
}

func (f *FrontEnds) examineGo(ctx context.Context) FrontEnd {
	empty := semantic.Project{Root: os.DevNull, FS: os.DirFS(os.DevNull)}
	answer, err := f.golang.Resolve(ctx, empty, semantic.Query{Name: "none"})
	if err != nil {
		return missing("Go", "go/parser reads files, nothing resolves names", err)
	}
	s := f.golang.Status()
	return FrontEnd{Language: "Go", Detail: fmt.Sprintf("%s; its process has %d MiB, of %d at most", answer.FrontEnd, s.RSS>>20, s.Memory>>20)}
}

func (f *FrontEnds) examineJava(ctx context.Context) FrontEnd {
	_, err := f.java.Parse(ctx, []semantic.File{{Path: "A.java", Content: []byte("class A {}")}})
	if err != nil {
		return missing("Java", "universal-ctags reads files, nothing resolves names", err)
	}
	s := f.java.Status()
	return FrontEnd{Language: "Java", Detail: fmt.Sprintf("JDK %s in %s; its process has %d MiB, its heap %d at most", s.JDK, s.Home, s.RSS>>20, s.HeapLimit>>20)}
}

func missing(language, instead string, err error) FrontEnd {
	if !errors.Is(err, semantic.ErrUnavailable) {
		instead += ", since a front end failed"
	}
	return FrontEnd{Language: language, Detail: fmt.Sprintf("%s: %v", instead, err), Missing: true}
}
