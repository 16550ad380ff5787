package bundle

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"debug/macho"
	"encoding/binary"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

var release = Release{Version: "1.2.3", Tools: []Tool{{"find_definition", "where a symbol is defined"}}}

// programs are four files that begin as programs for their machines do.
func programs() fstest.MapFS {
	elfHeader := func(machine elf.Machine) *fstest.MapFile {
		var b bytes.Buffer
		h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(machine), Version: 1, Ehsize: 64}
		copy(h.Ident[:], elf.ELFMAG+"\x02\x01\x01")
		_ = binary.Write(&b, binary.LittleEndian, h)
		return &fstest.MapFile{Data: b.Bytes()}
	}
	machHeader := func(cpu macho.Cpu) *fstest.MapFile {
		var b bytes.Buffer
		_ = binary.Write(&b, binary.LittleEndian, macho.FileHeader{Magic: macho.Magic64, Cpu: cpu, SubCpu: 3, Type: macho.TypeExec})
		b.Write(make([]byte, 4)) // reserved
		return &fstest.MapFile{Data: b.Bytes()}
	}
	return fstest.MapFS{
		"gtagsmcp-linux-amd64":  elfHeader(elf.EM_X86_64),
		"gtagsmcp-linux-arm64":  elfHeader(elf.EM_AARCH64),
		"gtagsmcp-darwin-amd64": machHeader(macho.CpuAmd64),
		"gtagsmcp-darwin-arm64": machHeader(macho.CpuArm64),
	}
}

func write(t *testing.T, binaries fs.FS) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := release.WriteBundle(&b, binaries, []byte("licence\n")); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSameInputSameBytes(t *testing.T) {
	if !bytes.Equal(write(t, programs()), write(t, programs())) {
		t.Error("two bundles of the same release differ")
	}
}

func TestUniversalHoldsBothProgramsWhole(t *testing.T) {
	in := programs()
	joined, err := universal(in)
	if err != nil {
		t.Fatal(err)
	}
	fat, err := macho.NewFatFile(bytes.NewReader(joined))
	if err != nil {
		t.Fatal(err)
	}
	want := map[macho.Cpu][]byte{
		macho.CpuAmd64: in["gtagsmcp-darwin-amd64"].Data,
		macho.CpuArm64: in["gtagsmcp-darwin-arm64"].Data,
	}
	for _, arch := range fat.Arches {
		if got := joined[arch.Offset : arch.Offset+arch.Size]; !bytes.Equal(got, want[arch.Cpu]) {
			t.Errorf("%v: %d bytes at %d are not the program", arch.Cpu, arch.Size, arch.Offset)
		}
		if arch.Offset%(1<<arch.Align) != 0 {
			t.Errorf("%v begins at %d, not on a page", arch.Cpu, arch.Offset)
		}
		delete(want, arch.Cpu)
	}
	if len(want) != 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestProgramsForTheWrongMachineAreRefused(t *testing.T) {
	for _, names := range [][2]string{
		{"gtagsmcp-linux-amd64", "gtagsmcp-linux-arm64"},
		{"gtagsmcp-darwin-amd64", "gtagsmcp-darwin-arm64"},
		{"gtagsmcp-linux-amd64", "gtagsmcp-darwin-amd64"},
	} {
		in := programs()
		in[names[0]], in[names[1]] = in[names[1]], in[names[0]]
		if err := release.WriteBundle(io.Discard, in, nil); err == nil || !strings.Contains(err.Error(), "gtagsmcp-") {
			t.Errorf("%v exchanged: got error %v, want one that names the file", names, err)
		}
	}
	in := programs()
	delete(in, "gtagsmcp-darwin-arm64")
	if err := release.WriteBundle(io.Discard, in, nil); err == nil || !strings.Contains(err.Error(), "gtagsmcp-darwin-arm64") {
		t.Errorf("a program is missing: got error %v", err)
	}
}

func TestVersionsAndDigestsThatAreNone(t *testing.T) {
	for _, version := range []string{"", "v1.2.3", "1.2", "latest"} {
		r := release
		r.Version = version
		if err := r.WriteBundle(io.Discard, programs(), nil); err == nil {
			t.Errorf("version %q was taken", version)
		}
	}
	if _, err := release.ServerJSON(strings.Repeat("A", 64)); err == nil {
		t.Error("a digest in capitals was taken")
	}
}

// TestServerJSON holds the registry's entry against the schema in the registry's
// own source.
func TestServerJSON(t *testing.T) {
	out, err := exec.Command("go", "mod", "download", "-json", "github.com/modelcontextprotocol/registry@v1.8.9").Output()
	if err != nil {
		t.Fatalf("fetching the registry's source: %v", err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(module.Dir, "internal", "validators", "schemas", SchemaVersion+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	valid := func(change func(map[string]any)) error {
		r := release
		r.Image = "ghcr.io/gtagsmcp/gtagsmcp:1.2.3"
		entry, err := r.ServerJSON(strings.Repeat("ab", 32))
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(entry, &doc); err != nil {
			t.Fatal(err)
		}
		change(doc)
		return resolved.Validate(doc)
	}
	if err := valid(func(map[string]any) {}); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(map[string]any){
		"a long description": func(d map[string]any) { d["description"] = strings.Repeat("x", 101) },
		"a name without /":   func(d map[string]any) { d["name"] = "gtagsmcp" },
		"no version":         func(d map[string]any) { delete(d, "version") },
		"a short digest": func(d map[string]any) {
			d["packages"].([]any)[0].(map[string]any)["fileSha256"] = "ab"
		},
	} {
		if valid(change) == nil {
			t.Errorf("the schema lets %s pass: the check checks nothing", name)
		}
	}
}

// unpack writes a bundle as careless hosts do: without any executable bit.
func unpack(t *testing.T, archive []byte, dir string) {
	t.Helper()
	reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range reader.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// command is what a host makes of the manifest on this system.
func command(t *testing.T, dir, root string) *exec.Cmd {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	start, ok := m.Server.Config.Overrides[runtime.GOOS]
	if !ok {
		t.Fatalf("the manifest knows no %s", runtime.GOOS)
	}
	fill := strings.NewReplacer("${__dirname}", dir, "${user_config.root}", root)
	var args []string
	for _, arg := range start.Args {
		if arg = fill.Replace(arg); strings.Contains(arg, "${") {
			t.Fatalf("nothing to fill in for %s", arg)
		}
		args = append(args, arg)
	}
	return exec.Command(start.Command, args...)
}

// TestStartsAsHostsStartIt unpacks a bundle with this machine's program into a
// path with spaces, starts it from / and asks it something.
func TestStartsAsHostsStartIt(t *testing.T) {
	tools := navtest.Tools(t)
	dir := filepath.Join(t.TempDir(), "Claude Extensions", "gtagsmcp")
	root := navtest.Tree(t, "-- a.c --\nint answer(void) { return 42; }\n")
	binaries := programs()
	binaries[name+"-"+runtime.GOOS+"-"+runtime.GOARCH] = &fstest.MapFile{Data: built(t)}
	unpack(t, write(t, binaries), dir)

	cmd := command(t, dir, root)
	cmd.Dir = "/"
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "GTAGS_MCP_HOME=" + tools.Home}
	cmd.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "host"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "find_definition", Arguments: map[string]any{"symbol": "answer"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Content[0].(*mcp.TextContent).Text; !strings.Contains(got, "a.c:1: int answer(void)") {
		t.Errorf("find_definition answered %q", got)
	}
}

func built(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if out, err := exec.Command("go", "build", "-o", path, "../../cmd/gtagsmcp").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestLauncher runs launch.sh with programs that say which they are.
func TestLauncher(t *testing.T) {
	dir, home, stubs := filepath.Join(t.TempDir(), "a b"), t.TempDir(), t.TempDir()
	script := func(path, text string, mode fs.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"gtagsmcp-darwin", "gtagsmcp-linux-amd64", "gtagsmcp-linux-arm64"} {
		script(filepath.Join(dir, program), `echo "`+program+` $0 [$1] [$2]"`, 0o644)
	}
	if err := os.WriteFile(filepath.Join(dir, "launch.sh"), launcher, 0o644); err != nil {
		t.Fatal(err)
	}
	script(filepath.Join(stubs, "uname"), `echo "$MACHINE"`, 0o755)
	script(filepath.Join(stubs, "chmod"), `case "$READONLY $*" in "yes "*"/a b/"*) exit 1;; esac; exec /bin/chmod "$@"`, 0o755)

	for _, c := range []struct{ machine, readonly, program, want string }{
		{"aarch64", "yes", "gtagsmcp-linux", "gtagsmcp-linux-arm64 " + home + "/.gtags-mcp/bundle/gtagsmcp-linux-arm64 [serve] [x y]"},
		{"aarch64", "yes", "gtagsmcp-linux", "gtagsmcp-linux-arm64 " + home + "/.gtags-mcp/bundle/gtagsmcp-linux-arm64 [serve] [x y]"},
		{"arm64", "no", "gtagsmcp-darwin", "gtagsmcp-darwin " + dir + "/gtagsmcp-darwin [serve] [x y]"},
		{"x86_64", "no", "gtagsmcp-linux", "gtagsmcp-linux-amd64 " + dir + "/gtagsmcp-linux-amd64 [serve] [x y]"},
		{"riscv64", "no", "gtagsmcp-linux", "gtagsmcp: this bundle has no program for a riscv64 processor; build it from source instead"},
	} {
		cmd := exec.Command("/bin/sh", filepath.Join(dir, "launch.sh"), c.program, "serve", "x y")
		cmd.Env = []string{"PATH=" + stubs, "HOME=" + home, "MACHINE=" + c.machine, "READONLY=" + c.readonly}
		out, _ := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); got != c.want {
			t.Errorf("%s on %s, read-only %s:\n got %s\nwant %s", c.program, c.machine, c.readonly, got, c.want)
		}
	}
	left, err := os.ReadDir(filepath.Join(home, ".gtags-mcp", "bundle"))
	if err != nil || len(left) != 1 {
		t.Errorf("copies left: %v, %v; want the program alone", left, err)
	}
}
