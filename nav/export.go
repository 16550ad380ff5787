package nav

// exportMacros make a symbol of the Linux kernel visible to modules.
var exportMacros = []string{"EXPORT_SYMBOL", "EXPORT_SYMBOL_GPL", "EXPORT_SYMBOL_NS", "EXPORT_SYMBOL_NS_GPL", "EXPORT_PER_CPU_SYMBOL", "EXPORT_PER_CPU_SYMBOL_GPL"}

// exported returns the macro that exports a name, or "".
func (v *View) exported(name string) (string, error) {
	uses, err := v.set.Occurrences(name)
	if err != nil {
		return "", err
	}
	exports, err := v.w.exports(v)
	if err != nil {
		return "", err
	}
	for _, f := range uses {
		for _, line := range f.Lines {
			if by, ok := exports[filePlace{f.Path, line}]; ok {
				return by, nil
			}
		}
	}
	return "", nil
}

type filePlace struct {
	path string
	line int
}

// exportSites are the lines of one generation of the index on which something
// is exported, and by which macro.
type exportSites struct {
	generation string
	lines      map[filePlace]string
}

// exports returns the export sites of the view's generation. They are few
// enough to keep (26,000 on Linux 6.1) and asked for by nearly every question.
func (w *Workspace) exports(v *View) (map[filePlace]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.exportSites.generation == v.snap.Generation() {
		return w.exportSites.lines, nil
	}
	lines := map[filePlace]string{}
	for _, by := range exportMacros {
		files, err := v.everywhere(by)
		if err != nil {
			return nil, err
		}
		for path, at := range files {
			for _, line := range at {
				lines[filePlace{path, line}] = by
			}
		}
	}
	w.exportSites = exportSites{v.snap.Generation(), lines}
	return lines, nil
}
