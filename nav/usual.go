package nav

import (
	"bytes"
	"cmp"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
	"github.com/gtagsmcp/gtagsmcp/nav/guard"
	"github.com/gtagsmcp/gtagsmcp/nav/kconfig"
)

// usualConfigs are the configurations that a tree with Kconfig files is usually
// built with, one an architecture. They are read once: a Kconfig file that changes
// counts from the next start on.
type usualConfigs struct {
	files *sourceCache

	once      sync.Once
	makefiles *kconfig.Makefiles         // nil in a tree without Kconfig files
	declaring func() map[string][]string // the architectures that declare or select an option
	mu        sync.Mutex
	of        map[string]func() *usualConfig
}

// usualConfig is that of one architecture.
type usualConfig struct {
	*kconfig.Config
	included *inclusions
}

// usualArchs are the architectures that code for all of them is looked at on: the
// first on which it can be built. Behind them come all others.
var usualArchs = []string{"x86", "arm64", "arm"}

// prepare begins to read what most questions about callees need, which takes a
// fraction of a second for Linux.
func (u *usualConfigs) prepare() {
	u.once.Do(func() {
		if _, err := u.files.plain("Kconfig"); err != nil {
			return
		}
		if _, err := u.files.plain("arch/" + usualArchs[0] + "/Kconfig"); err != nil {
			return
		}
		u.makefiles = kconfig.NewMakefiles(u.files.plain)
		u.of = map[string]func() *usualConfig{}
		u.declaring = sync.OnceValue(u.declarations)
		go u.config(usualArchs[0])
	})
}

// config is the usual configuration of an architecture, nil if it has none.
func (u *usualConfigs) config(arch string) *usualConfig {
	u.mu.Lock()
	load := u.of[arch]
	if load == nil {
		load = sync.OnceValue(func() *usualConfig { return u.load(arch) })
		u.of[arch] = load
	}
	u.mu.Unlock()
	return load()
}

func (u *usualConfigs) load(arch string) *usualConfig {
	var included *inclusions
	var work errgroup.Group
	work.Go(func() error {
		included = readInclusions(u.files.root.FS(), u.files.plain, "include/linux", "include/asm-generic", "arch/"+arch+"/include")
		return nil
	})
	config, err := kconfig.Load(u.files.plain, arch)
	_ = work.Wait()
	if err != nil {
		return nil
	}
	return &usualConfig{config, included}
}

// world is what can be said about macros and files where one definition is
// compiled, in the usual configuration. A nil world says nothing.
type world struct {
	v         *View
	from      Symbol
	arch      string
	config    *kconfig.Config
	included  *inclusions
	makefiles *kconfig.Makefiles
	guards    *guard.Config
	macros    map[string]guard.Value
	named     map[string]bool
}

// worldOf is the world of a definition in a C-like file: the configuration of its
// architecture, with the options on that itself and its file depend on.
func (v *View) worldOf(from Symbol) *world {
	u := &v.w.usual
	if u.prepare(); u.makefiles == nil || v.outlines == nil || sideTree(from.Path) > 0 {
		return nil
	}
	if _, c := csource.LangOf(from.Path); !c {
		return nil
	}
	var needs []string
	if sets, ok := u.makefiles.Built(from.Path); ok {
		needs = slices.DeleteFunc(slices.Clone(sets[0]), func(option string) bool { return option[0] == '!' })
	}
	for _, g := range from.Guards {
		if m := oneOption.FindStringSubmatch(g); m != nil {
			needs = append(needs, m[1])
		}
	}
	w := &world{v: v, from: from, makefiles: u.makefiles, macros: map[string]guard.Value{}, named: map[string]bool{}}
	w.guards = guard.Asking(w.macro)
	w.settle(needs)
	if w.config == nil {
		return nil
	}
	return w
}

// settle chooses the architecture: that of the file, else the first on which what
// the file needs can be on.
func (w *world) settle(needs []string) {
	u := &w.v.w.usual
	if own := archOf(w.from.Path); own != "" {
		w.use(u.config(own), own, needs)
		return
	}
	if w.use(u.config(usualArchs[0]), usualArchs[0], needs) || w.config == nil {
		return
	}
	for _, arch := range u.archsOf(w.config.Missing(needs)) {
		if w.use(u.config(arch), arch, needs) {
			return
		}
	}
}

// use takes a configuration, if there is none yet or it can have what is needed.
func (w *world) use(c *usualConfig, arch string, needs []string) (can bool) {
	if c == nil {
		return false
	}
	can = !slices.ContainsFunc(needs, func(option string) bool { s, _ := c.State(option); return s == kconfig.Never })
	if can || w.config == nil {
		w.arch, w.config, w.included = arch, c.Assuming(needs), c.included
	}
	return can
}

// maxArchs is on how many architectures code is looked at.
const maxArchs = 2

// archsOf are the architectures that declare or select one of the options, the
// usual first.
func (u *usualConfigs) archsOf(options []string) (archs []string) {
	for _, option := range options {
		archs = append(archs, u.declaring()[option]...)
	}
	slices.SortFunc(archs, func(a, b string) int {
		return cmp.Or(cmp.Compare(usualness(a), usualness(b)), cmp.Compare(a, b))
	})
	archs = slices.Compact(archs)
	return archs[:min(len(archs), maxArchs)]
}

func usualness(arch string) int {
	if i := slices.Index(usualArchs, arch); i >= 0 {
		return i
	}
	return len(usualArchs)
}

// declarations tells which architectures declare an option or select it.
func (u *usualConfigs) declarations() map[string][]string {
	declaring := map[string][]string{}
	for _, pattern := range []string{"arch/*/Kconfig*", "arch/*/*/Kconfig*", "arch/*/*/*/Kconfig*"} {
		files, _ := fs.Glob(u.files.root.FS(), pattern)
		for _, file := range files {
			content, err := u.files.plain(file)
			if err != nil {
				continue
			}
			for _, m := range declaration.FindAllSubmatch(content, -1) {
				option, arch := string(m[1]), archOf(file)
				if !slices.Contains(declaring[option], arch) {
					declaring[option] = append(declaring[option], arch)
				}
			}
		}
	}
	return declaring
}

var declaration = regexp.MustCompile(`(?m)^[ \t]*(?:(?:menu)?config|select)[ \t]+(\w+)`)

// oneOption is a condition that one option alone decides.
var oneOption = regexp.MustCompile(`^(?:defined\(|IS_ENABLED\(|IS_BUILTIN\(|IS_REACHABLE\()?CONFIG_(\w+)\)?$`)

// compiles reports whether a definition is compiled into what the world's own
// definition is part of.
func (w *world) compiles(s *Symbol) guard.Value {
	if w == nil {
		return guard.Unknown
	}
	return min(w.built(s.Path), w.includes(s.Path, 0), w.holds(s.Guards))
}

// includes evaluates the conditions under which a header is included by others.
// The world's own file may include it without any.
func (w *world) includes(header string, depth int) guard.Value {
	by := w.included.of[header]
	if len(by) == 0 {
		return flagged(!w.shadowed(header))
	}
	if depth > maxInclusions || header == w.from.Path || w.names("/"+path.Base(header)+">") {
		return guard.True
	}
	any := guard.False
	for _, in := range by {
		if any = max(any, min(w.holds(in.guards), w.includes(in.by, depth+1))); any == guard.True {
			break
		}
	}
	return any
}

// maxInclusions bounds how far headers that include one another are followed.
const maxInclusions = 3

// shadowed reports whether a generic header stands behind one of the architecture
// that has its name.
func (w *world) shadowed(header string) bool {
	name, generic := strings.CutPrefix(header, "include/asm-generic/")
	return generic && w.included.has["arch/"+w.arch+"/include/asm/"+name]
}

// names reports whether the world's own file holds a text.
func (w *world) names(text string) bool {
	named, known := w.named[text]
	if !known {
		src, err := w.v.w.files.read(w.from.Path)
		named = err == nil && bytes.Contains(src.content, []byte(text))
		w.named[text] = named
	}
	return named
}

// holds evaluates conditions. Those under which the world's own definition stands
// hold in it.
func (w *world) holds(guards []string) guard.Value {
	all := guard.True
	for _, g := range guards {
		if !slices.Contains(w.from.Guards, g) {
			all = min(all, w.guards.Condition(g))
		}
	}
	return all
}

// built reports whether a file is part of a build.
func (w *world) built(file string) guard.Value {
	sets, ok := w.makefiles.Built(file)
	if !ok || file == w.from.Path {
		return guard.Unknown
	}
	any := guard.False
	for _, set := range sets {
		all := guard.True
		for _, option := range set {
			name, without := strings.CutPrefix(option, "!")
			value := w.option(name)
			if without {
				value = -value
			}
			all = min(all, value)
		}
		any = max(any, all)
	}
	return any
}

func (w *world) option(name string) guard.Value {
	switch state, _ := w.config.State(name); state {
	case kconfig.On:
		return guard.True
	case kconfig.Open:
		return guard.Unknown
	}
	return guard.False
}

// macro says of a name in a condition what it is defined as. What nothing in the
// tree defines where it could be seen is not defined, unless the compiler may.
func (w *world) macro(name string) (text string, defined guard.Value) {
	if option, ok := strings.CutPrefix(name, "CONFIG_"); ok {
		return w.optionMacro(option)
	}
	if text, known := compilerMacros[name]; known {
		if text == "" {
			return "", guard.False
		}
		return text, guard.True
	}
	if value, known := w.macros[name]; known {
		return "", value
	}
	w.macros[name] = guard.Unknown // to whoever asks meanwhile
	value := w.lookup(name)
	w.macros[name] = value
	return "", value
}

func (w *world) optionMacro(option string) (text string, defined guard.Value) {
	state, text := w.config.State(option)
	base, module := strings.CutSuffix(option, "_MODULE")
	if state == kconfig.Never && module {
		if state, text = w.config.State(base); state != kconfig.Open {
			return "1", flagged(state == kconfig.On && text == "m")
		}
	}
	switch {
	case state == kconfig.Open:
		return "", guard.Unknown
	case state != kconfig.On || text == "m" || text == "n":
		return "", guard.False
	case text == "y":
		text = "1"
	}
	return text, guard.True
}

func flagged(b bool) guard.Value {
	if b {
		return guard.True
	}
	return guard.False
}

// compilerMacros are names that the compiler or the build defines, or would for
// another language: "" for those that it does not.
var compilerMacros = map[string]string{
	"__KERNEL__": "1", "__GNUC__": "12", "__STDC__": "1",
	"__ASSEMBLY__": "", "__ASSEMBLER__": "", "__cplusplus": "", "__CHECKER__": "", "__GENKSYMS__": "", "MODULE": "",
	"__GENERATING_BOUNDS_H": "", "__clang__": "", "__KVM_NVHE_HYPERVISOR__": "", "BUILD_VDSO": "", "__DISABLE_EXPORTS": "",
}

// lookup finds the macro definitions of a name that the world's file may see: its
// own, and those of headers for everybody and for its architecture.
func (w *world) lookup(name string) guard.Value {
	refs, err := w.v.outlines.Lookup(name, func(file string, kind csource.Kind) bool {
		return kind == csource.Macro && (file == w.from.Path || path.Ext(file) == ".h" && sideTree(file) == 0 &&
			(archOf(file) == "" || archOf(file) == w.arch))
	})
	if err != nil {
		return guard.Unknown
	}
	value := guard.False
	if strings.HasSuffix(name, "__") {
		value = guard.Unknown // the compiler has many of that form
	}
	for _, ref := range refs {
		if ref.Path == w.from.Path {
			return guard.Unknown // it depends on where in the file
		}
		f := w.v.facts(ref.Path)
		if f == nil {
			return guard.Unknown
		}
		if !public(ref.Path) && !w.sees(ref.Path) {
			continue
		}
		guards := f.guards(ref.Symbol.Line)
		if slices.ContainsFunc(guards, func(g string) bool { return wordIndex(g, name) >= 0 && strings.HasPrefix(g, "!") }) {
			continue // #ifndef X, #define X: the fallback for when nobody else does
		}
		defined := min(w.holds(guards), w.includes(ref.Path, 0))
		if !public(ref.Path) || strings.HasPrefix(ref.Path, "include/asm-generic/") {
			defined = min(defined, guard.Unknown) // not everybody sees it
		}
		value = max(value, defined)
	}
	return value
}

// public reports whether a header is for everybody, rather than for the files
// around it.
func public(file string) bool {
	return strings.HasPrefix(file, "include/") || strings.Contains(file, "/include/")
}

// sees reports whether the world's file may include a header: one for everybody,
// one of its own or an outer folder, or one that it names.
func (w *world) sees(file string) bool {
	if path.Ext(file) != ".h" || public(file) || strings.HasPrefix(w.from.Path, path.Dir(file)+"/") {
		return true
	}
	return w.names(path.Base(file) + `"`)
}
