package toolchain

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestParseURIs(t *testing.T) {
	got := parseURIs(`Reading package lists...
The following NEW packages will be installed:
  global
'http://deb.example/pool/g/global_6.6.9-1_amd64.deb' global_6.6.9-1_amd64.deb 484304 MD5Sum:1219
'http://deb.example/pool/l/libltdl7_2.4.7-7%7edeb12u1_amd64.deb' libltdl7_2.4.7-7~deb12u1_amd64.deb 393000 SHA256:a027
'http://deb.example/pool/v/vim_2%3a9.0_all.deb' vim_2%3a9.0_all.deb 12 SHA256:ff
'http://deb.example/bad' ../escape_1_all.deb 12 SHA256:ff
'http://deb.example/bad' -o_1_all.deb 12 SHA256:ff
'http://deb.example/bad' name_1_all.deb -12 SHA256:ff
'http://deb.example/bad' name_1.deb 12 SHA256:ff
'http://deb.example/unterminated
`)
	want := []deb{
		{"global_6.6.9-1_amd64.deb", "http://deb.example/pool/g/global_6.6.9-1_amd64.deb", 484304, "MD5Sum:1219", "global", "6.6.9-1", "amd64"},
		{"libltdl7_2.4.7-7~deb12u1_amd64.deb", "http://deb.example/pool/l/libltdl7_2.4.7-7%7edeb12u1_amd64.deb", 393000, "SHA256:a027", "libltdl7", "2.4.7-7~deb12u1", "amd64"},
		{"vim_2%3a9.0_all.deb", "http://deb.example/pool/v/vim_2%3a9.0_all.deb", 12, "SHA256:ff", "vim", "2:9.0", "all"},
	}
	if len(got) != len(want) {
		t.Fatalf("got %d packages %v, want %d", len(got), got, len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
	if id := generationID(got); !strings.HasPrefix(id, "6.6.9-") || len(id) != len("6.6.9-")+16 {
		t.Errorf("generation is called %q", id)
	}
}

func FuzzParseURIs(f *testing.F) {
	f.Add("'http://d/p/g_1_all.deb' g_1_all.deb 12 SHA256:ff\n")
	f.Add("'' a_%2e%2e%2f_b.deb 1 x\n")
	f.Fuzz(func(t *testing.T, out string) {
		for _, d := range parseURIs(out) {
			if filepath.Base(d.File) != d.File || d.Size < 0 || strings.HasPrefix(d.Package, "-") {
				t.Errorf("accepted %+v from %q", d, out)
			}
		}
	})
}

func TestAptSays(t *testing.T) {
	stderr := "W: ignore me\nE: Unable to locate package global\nE: Unable to locate package global\nE: second\n"
	if got, want := aptSays(stderr, 100), "Unable to locate package global; second"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := aptSays("something else\n", 7), "exit status 7: something else"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
