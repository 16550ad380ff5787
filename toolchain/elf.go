package toolchain

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// elfMachines are the processors by Go's name for them.
var elfMachines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// triplets name the folders in which distributions keep the libraries of a processor.
var triplets = map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}

// preflight reads an ELF file's headers and says what would keep the program
// from running here, without running it: the kernel and the loader report half
// of these causes alike, and a truncated program only crashes. libs is the folder
// of the libraries that came with it. Scripts, and other systems, are left to the run.
//
// What it reads: e_machine against this processor; the end of each PT_LOAD
// segment against the file's size; the loader that PT_INTERP names; each
// DT_NEEDED library; the highest GLIBC_ version in SHT_GNU_verneed against the
// highest that the system's libc.so.6 defines in SHT_GNU_verdef.
func preflight(path, libs string) error {
	f, err := startable(path)
	if f == nil || err != nil {
		return err
	}
	defer f.Close()
	if loader := elfInterpreter(f); loader != "" { // else a static program, which stands on the kernel alone
		return checkLinks(path, f, libs, loader)
	}
	return nil
}

// startable opens a program of which the headers promise that the kernel can
// start it; nil without an error is one that is left to the run.
func startable(path string) (*elf.File, error) {
	if runtime.GOOS != "linux" || isScript(path) {
		return nil, nil
	}
	f, err := openELF(path)
	if err != nil {
		return nil, err
	}
	if loader := elfInterpreter(f); loader != "" {
		if _, err := os.Stat(loader); err != nil {
			f.Close()
			return nil, &ExecError{Path: path, Cause: CauseInterpreter, Detail: loader, Err: err}
		}
	}
	return f, nil
}

// openELF opens a program for this processor of which every segment is there.
func openELF(path string) (*elf.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if head := readHead(path, len(elf.ELFMAG)); string(head) != elf.ELFMAG {
		return nil, &ExecError{Path: path, Cause: CauseFormat, Detail: fmt.Sprintf("it begins with %q", head)}
	}
	f, err := elf.Open(path)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		// The table of sections, near the end of the file, is cut off.
		return nil, &ExecError{Path: path, Cause: CauseTruncated, Detail: fmt.Sprintf("it has %d bytes", info.Size()), Err: err}
	}
	if err != nil {
		return nil, &ExecError{Path: path, Cause: CauseFormat, Detail: err.Error(), Err: err}
	}
	if want, known := elfMachines[runtime.GOARCH]; known && f.Machine != want {
		f.Close()
		return nil, &ExecError{Path: path, Cause: CauseMachine, Detail: fmt.Sprintf("it is for %v, this is %v", f.Machine, want)}
	}
	for _, p := range f.Progs {
		if size := uint64(info.Size()); p.Type == elf.PT_LOAD && (p.Off > size || p.Filesz > size-p.Off) {
			f.Close()
			return nil, &ExecError{Path: path, Cause: CauseTruncated, Detail: fmt.Sprintf("a segment of %d bytes begins at %d, the file has %d", p.Filesz, p.Off, size)}
		}
	}
	return f, nil
}

// elfInterpreter is the loader that the kernel starts for f; empty for a static program.
func elfInterpreter(f *elf.File) string {
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		b := make([]byte, min(p.Filesz, 4096))
		n, _ := p.ReadAt(b, 0)
		return string(bytes.TrimRight(b[:n], "\x00"))
	}
	return ""
}

// checkLinks demands the libraries and the C library's version. What the file
// does not tell, having no such section, is left to the run.
func checkLinks(path string, f *elf.File, libs, loader string) error {
	needed, _ := f.ImportedLibraries()
	own, _ := f.DynString(elf.DT_RUNPATH)
	old, _ := f.DynString(elf.DT_RPATH)
	dirs := loaderDirs(libs, loader)
	for _, list := range append(own, old...) {
		for _, dir := range filepath.SplitList(list) {
			origin := filepath.Dir(path)
			dirs = append(dirs, strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(dir))
		}
	}
	known, _ := os.ReadFile(loaderCache)
	for _, name := range needed {
		if !slices.ContainsFunc(dirs, func(dir string) bool { return exists(filepath.Join(dir, name)) }) &&
			!bytes.Contains(known, []byte(name+"\x00")) {
			return &ExecError{Path: path, Cause: CauseLibrary, Detail: name}
		}
	}
	need, have := glibcNeeded(f), glibcPresent()
	if need != "" && have != "" && compareVersions(need, have) > 0 {
		return &ExecError{Path: path, Cause: CauseGlibc, Detail: fmt.Sprintf("it needs glibc %s, this system has %s", need, have)}
	}
	return nil
}

// loaderDirs are the folders that a loader searches without its cache.
func loaderDirs(libs, loader string) []string {
	triplet := triplets[runtime.GOARCH]
	dirs := []string{libs, "/lib/" + triplet, "/usr/lib/" + triplet, "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"}
	if real, err := filepath.EvalSymlinks(loader); err == nil {
		dirs = append(dirs, filepath.Dir(real))
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" })
}

// glibcNeeded is the highest version of glibc that f names, such as 2.28.
func glibcNeeded(f *elf.File) string {
	libraries, _ := f.DynamicVersionNeeds() // an error is a file without the section
	var names []string
	for _, lib := range libraries {
		for _, v := range lib.Needs {
			names = append(names, v.Dep)
		}
	}
	return highestGlibc(names)
}

// glibcPresent is the version of this system's glibc; empty where there is none.
func glibcPresent() string {
	for _, dir := range loaderDirs("", "") {
		f, err := elf.Open(filepath.Join(dir, "libc.so.6"))
		if err != nil {
			continue
		}
		defined, _ := f.DynamicVersions()
		machine, banner := f.Machine, glibcBanner(f)
		f.Close()
		if want, known := elfMachines[runtime.GOARCH]; known && machine != want {
			continue
		}
		var names []string
		for _, v := range defined {
			names = append(names, v.Name)
		}
		if version := highestGlibc(names); compareVersions(banner, version) > 0 {
			return banner
		} else if version != "" {
			return version
		}
	}
	return ""
}

// glibcBanner is the version that glibc prints when it is run. A release that adds
// no symbol to libc.so.6, such as 2.31, has none of its own name.
func glibcBanner(f *elf.File) string {
	section := f.Section(".rodata")
	if section == nil {
		return ""
	}
	data, _ := section.Data()
	if m := banner.FindSubmatch(data); m != nil {
		return string(m[1])
	}
	return ""
}

var banner = regexp.MustCompile(`GNU C Library [^\x00\n]* version ([0-9]+\.[0-9]+)`)

// highestGlibc leaves out names like GLIBC_PRIVATE and GLIBC_ABI_DT_RELR.
func highestGlibc(names []string) string {
	best := ""
	for _, name := range names {
		number, ok := strings.CutPrefix(name, "GLIBC_")
		if ok && strings.Trim(number, "0123456789.") == "" && compareVersions(number, best) > 0 {
			best = number
		}
	}
	return best
}
