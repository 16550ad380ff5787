package nav

import (
	"sync"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
	"github.com/gtagsmcp/gtagsmcp/nav/outline"
)

// facts is what is known about a C-like file: from the outline that was made
// with the index, or from a scan of the file when there is none.
type facts interface {
	symbols() []csource.Symbol
	guards(line int) []string
	dead(line int) bool
	enclosingAt(line, col int) (csource.Symbol, bool)
}

// facts returns what is known about a file, or nil when its language is not
// C-like or it cannot be read.
func (v *View) facts(path string) facts {
	if _, ok := csource.LangOf(path); !ok {
		return nil
	}
	if f, ok := v.outlineOf(path); ok {
		return &storedFacts{v: v, file: f}
	}
	return v.scanFacts(path)
}

func (v *View) scanFacts(path string) facts {
	src, err := v.w.files.read(path)
	if err != nil {
		v.unreadable(path, err)
		return nil
	}
	return scannedFacts{src.scan()}
}

func (v *View) outlineOf(path string) (*outline.File, bool) {
	if v.outlines == nil {
		return nil, false
	}
	if f := v.w.outlined.get(v.outlines, path); f != nil {
		return f, true
	}
	f, ok, err := v.outlines.File(path)
	if err != nil {
		v.damagedOutline(err)
	}
	if ok && err == nil {
		v.w.outlined.put(v.outlines, path, f)
	}
	return f, ok && err == nil
}

// maxOutlined is how many outlines of files are kept decoded.
const maxOutlined = 256

// outlineCache keeps what was decoded of the outlines of one generation.
type outlineCache struct {
	mu    sync.Mutex
	set   *outline.Set
	files map[string]*outline.File
}

func (c *outlineCache) get(set *outline.Set, path string) *outline.File {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set != set {
		return nil
	}
	return c.files[path]
}

// put keeps a file. A full cache begins anew: what is asked for again is soon
// back, and nothing has to be counted.
func (c *outlineCache) put(set *outline.Set, path string, f *outline.File) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set != set || len(c.files) >= maxOutlined {
		c.set, c.files = set, map[string]*outline.File{}
	}
	c.files[path] = f
}

// damagedOutline notes that an outline cannot be read. Answers go on without it.
func (v *View) damagedOutline(err error) {
	v.w.opts.Logger.Warn("outline", "err", err)
}

// scannedFacts are those of a scan.
type scannedFacts struct{ *csource.File }

func (f scannedFacts) symbols() []csource.Symbol { return f.Symbols() }
func (f scannedFacts) guards(line int) []string  { return f.Guards(line) }
func (f scannedFacts) dead(line int) bool        { return f.Dead(line) }
func (f scannedFacts) enclosingAt(line, col int) (csource.Symbol, bool) {
	return f.EnclosingAt(line, col)
}

// storedFacts are those of an outline. What cannot be read from it is read from
// the file itself.
type storedFacts struct {
	v    *View
	file *outline.File
	scan facts // made when the outline fails
}

// instead returns the facts of a scan after the outline failed.
func (f *storedFacts) instead(err error) facts {
	if f.scan == nil {
		f.v.damagedOutline(err)
		if f.scan = f.v.scanFacts(f.file.Path()); f.scan == nil {
			f.scan = scannedFacts{csource.Scan(nil, csource.C)}
		}
	}
	return f.scan
}

func (f *storedFacts) symbols() []csource.Symbol {
	s, err := f.file.Symbols()
	if err != nil {
		return f.instead(err).symbols()
	}
	return s
}

func (f *storedFacts) guards(line int) []string {
	g, err := f.file.Guards(line)
	if err != nil {
		return f.instead(err).guards(line)
	}
	return g
}

func (f *storedFacts) dead(line int) bool {
	d, err := f.file.Dead(line)
	if err != nil {
		return f.instead(err).dead(line)
	}
	return d
}

func (f *storedFacts) enclosingAt(line, col int) (csource.Symbol, bool) {
	s, ok, err := f.file.EnclosingAt(line, col)
	if err != nil {
		return f.instead(err).enclosingAt(line, col)
	}
	return s, ok
}
