package buildglobal

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Needs is what an ELF file asks of the system that is to run it.
type Needs struct {
	Machine   string
	Interp    string   // the program loader; empty for a static program
	Libraries []string // DT_NEEDED
	RunPath   []string // folders searched first: DT_RPATH and DT_RUNPATH
	Glibc     string   // the highest GLIBC_ version; empty where there is none
	Other     []string // needed symbol versions that are no GLIBC_ number
}

// ReadNeeds reads them from the file's headers, without running anything.
func ReadNeeds(path string) (Needs, error) {
	f, err := elf.Open(path)
	if err != nil {
		return Needs{}, fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	n := Needs{Machine: f.Machine.String()}
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		b := make([]byte, min(p.Filesz, 4096))
		if _, err := p.ReadAt(b, 0); err != nil {
			return Needs{}, fmt.Errorf("%s: interpreter: %w", path, err)
		}
		n.Interp = strings.TrimRight(string(b), "\x00")
	}
	if f.Section(".dynamic") == nil {
		return n, nil
	}
	if n.Libraries, err = f.ImportedLibraries(); err != nil {
		return Needs{}, fmt.Errorf("%s: libraries: %w", path, err)
	}
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		dirs, err := f.DynString(tag)
		if err != nil {
			return Needs{}, fmt.Errorf("%s: %s: %w", path, tag, err)
		}
		n.RunPath = append(n.RunPath, dirs...)
	}
	return n, n.readVersions(path, f)
}

func (n *Needs) readVersions(path string, f *elf.File) error {
	if f.SectionByType(elf.SHT_GNU_VERNEED) == nil {
		return nil
	}
	libraries, err := f.DynamicVersionNeeds()
	if err != nil {
		return fmt.Errorf("%s: version needs: %w", path, err)
	}
	for _, lib := range libraries {
		for _, v := range lib.Needs {
			number, ok := strings.CutPrefix(v.Dep, "GLIBC_")
			if !ok || parseVersion(number) == nil {
				n.Other = append(n.Other, v.Dep)
			} else if slices.Compare(parseVersion(number), parseVersion(n.Glibc)) > 0 {
				n.Glibc = number
			}
		}
	}
	return nil
}

// parseVersion splits "2.28" into numbers; nil if it is not made of such.
func parseVersion(s string) []int {
	var parts []int
	for p := range strings.SplitSeq(s, ".") {
		n, err := strconv.Atoi(p)
		if err != nil {
			return nil
		}
		parts = append(parts, n)
	}
	return parts
}

// glibcLibraries are those of glibc itself. Since 2.34 most are empty, and still there.
var glibcLibraries = []string{
	"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
	"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
}

// CheckELF reports everything that would keep the file from running where p
// promises that it runs.
func CheckELF(path string, p Platform) (Needs, error) {
	n, err := ReadNeeds(path)
	if err != nil {
		return n, err
	}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(path+": "+format, args...)) }
	if n.Machine != p.ELF {
		fault("is for %s, not for %s", n.Machine, p.ELF)
	}
	if p.Glibc == "" && n.Interp != "" {
		fault("needs the loader %s, but should be static", n.Interp)
	}
	for _, lib := range n.Libraries {
		if p.Glibc == "" || !slices.Contains(glibcLibraries, lib) {
			fault("needs the library %s", lib)
		}
	}
	if len(n.RunPath) > 0 {
		fault("searches libraries in %s", strings.Join(n.RunPath, ", "))
	}
	if len(n.Other) > 0 {
		fault("needs symbol versions %s", strings.Join(n.Other, ", "))
	}
	if slices.Compare(parseVersion(n.Glibc), parseVersion(p.Glibc)) > 0 {
		fault("needs GLIBC_%s, the ceiling is %q", n.Glibc, p.Glibc)
	}
	return n, errors.Join(faults...)
}

// Row is one line of the ceiling table.
func (n Needs) Row(name string) string {
	glibc, libs := "-", "static"
	if n.Glibc != "" {
		glibc = "GLIBC_" + n.Glibc
	}
	if n.Interp != "" {
		libs = strings.Join(n.Libraries, " ")
	}
	return fmt.Sprintf("%-34s %-11s %-11s %s", name, n.Machine, glibc, libs)
}
