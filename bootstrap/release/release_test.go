package release

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"aead.dev/minisign"
)

const sums = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  gtagsmcp-linux-amd64.tar.gz\n"

func newKeys(t *testing.T) (minisign.PublicKey, minisign.PrivateKey) {
	t.Helper()
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return public, private
}

func signed(t *testing.T, key minisign.PrivateKey, version, text string) []byte {
	t.Helper()
	signature, err := Sign(key, version, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

func TestVerify(t *testing.T) {
	public, private := newKeys(t)
	_, other := newKeys(t)
	good := signed(t, private, "v1.2.3", sums)
	if again := signed(t, private, "v1.2.3", sums); !bytes.Equal(good, again) {
		t.Errorf("two signatures of the same bytes differ:\n%s\n%s", good, again)
	}
	swapped := bytes.Replace(good, []byte("gtagsmcp v1.2.3\n"), []byte("gtagsmcp v9.9.9\n"), 2)
	notHashed := minisign.SignWithComments(private, []byte(sums), "gtagsmcp v1.2.3", "x")
	for name, c := range map[string]struct {
		version, text string
		signature     []byte
		want          string
	}{
		"good":            {"v1.2.3", sums, good, ""},
		"changed sums":    {"v1.2.3", strings.Replace(sums, "e3", "e4", 1), good, "was changed"},
		"other key":       {"v1.2.3", sums, signed(t, other, "v1.2.3", sums), "this program trusts"},
		"old release":     {"v1.3.0", sums, good, "an old release under a new name?"},
		"changed comment": {"v9.9.9", sums, swapped, "was changed"},
		"not prehashed":   {"v1.2.3", sums, notHashed, "prehashed"},
		"cut":             {"v1.2.3", sums, good[:len(good)/2], "minisign.sig"},
		"empty":           {"v1.2.3", sums, nil, "invalid signature"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Verify(public, c.version, []byte(c.text), c.signature)
			if c.want == "" && err != nil || c.want != "" && !errors.Is(err, ErrSignature) {
				t.Fatalf("Verify = %v", err)
			}
			if name != "cut" && err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("Verify = %v, want it to say %q", err, c.want)
			}
		})
	}
}

// TestEachFlippedByte: no single changed byte is accepted, but in the untrusted
// comment and in bits that base64 does not use.
func TestEachFlippedByte(t *testing.T) {
	public, private := newKeys(t)
	good := signed(t, private, "v1.2.3", sums)
	refused := 0
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if Verify(public, "v1.2.3", []byte(sums), bad) != nil {
			refused++
			continue
		}
		var a, b minisign.Signature
		if a.UnmarshalText(good) != nil || b.UnmarshalText(bad) != nil || !a.Equal(b) {
			t.Errorf("byte %d of the signature changed (%q to %q) and accepted", i, good[i], bad[i])
		}
	}
	if refused < 200 {
		t.Errorf("only %d of %d changes were refused", refused, len(good))
	}
	for i := range sums {
		bad := []byte(sums)
		bad[i] ^= 1
		if Verify(public, "v1.2.3", bad, good) == nil {
			t.Errorf("byte %d of the sums changed and accepted", i)
		}
	}
}

func TestParseKey(t *testing.T) {
	public, _ := newKeys(t)
	text, err := public.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{public.String(), string(text), string(text) + "\n", "\n" + strings.ReplaceAll(string(text), "\n", "\r\n") + "\r\n"} {
		if key, err := ParseKey(form); err != nil || !key.Equal(public) {
			t.Errorf("ParseKey(%q) = %v, %v", form, key, err)
		}
	}
	for _, none := range []string{"", "\n", "untrusted comment: no key yet\n"} {
		if _, err := ParseKey(none); !errors.Is(err, ErrNoKey) {
			t.Errorf("ParseKey(%q) = %v, want ErrNoKey", none, err)
		}
	}
	if _, err := ParseKey("RWnonsense"); err == nil || errors.Is(err, ErrNoKey) {
		t.Errorf("ParseKey of nonsense = %v", err)
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]string{
		"1.2.3": "v1.2.3", "v1.2.3": "v1.2.3", "v1.2.3-rc.1": "v1.2.3-rc.1",
		"": "", "1.2": "", "v1": "", "latest": "", "v1.2.3+dirty": "", "v01.2.3": "", "v1.2.3/../x": "", "toolchain-6.6.14-1": "", " v1.2.3": "", "vv1.2.3": "", "V1.2.3": "",
	} {
		_, tag, err := ParseVersion(text)
		if tag != want || (err == nil) != (want != "") {
			t.Errorf("ParseVersion(%q) = %q, %v, want %q", text, tag, err, want)
		}
	}
}

func TestParseSums(t *testing.T) {
	digest := strings.Repeat("0a", 32)
	for _, bad := range []string{
		digest + "  f", digest + " f\n", digest + " *f\n", strings.ToUpper(digest) + "  f\n", digest[2:] + "  f\n",
		digest + "  ../f\n", digest + "  a b\n", digest + "  .\n", digest + "  \n", digest + "  f\r\n", "\n",
		digest + "  f\n" + digest + "  f\n", strings.Repeat(digest+"  f\n", 2000),
	} {
		if s, err := Parse([]byte(bad)); err == nil {
			t.Errorf("Parse(%.90q) = %v", bad, s)
		}
	}
	if s, err := Parse([]byte(sums)); err != nil || len(s) != 1 {
		t.Errorf("Parse(%q) = %v, %v", sums, s, err)
	}
}

// FuzzParseSums: what is accepted is written as it was read, but for the order.
func FuzzParseSums(f *testing.F) {
	f.Add([]byte(sums))
	f.Add([]byte(sums + strings.Repeat("0", 64) + "  install.sh\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(s.Text())
		if err != nil || len(again) != len(s) || len(s.Text()) != len(text) {
			t.Fatalf("%q became %q: %v", text, s.Text(), err)
		}
		for name, sum := range s {
			if !bytes.Contains(text, []byte(sum+"  "+name+"\n")) || again[name] != sum {
				t.Errorf("%s %s is not in %q", sum, name, text)
			}
		}
	})
}

// FuzzVerify: whatever a server sends as a signature, nothing panics, and only
// the signature that was made is accepted.
func FuzzVerify(f *testing.F) {
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		f.Fatal(err)
	}
	good, err := Sign(private, "v1.2.3", []byte(sums))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:40])
	f.Fuzz(func(t *testing.T, signature []byte) {
		if Verify(public, "v1.2.3", []byte(sums), signature) == nil {
			var s, g minisign.Signature
			if s.UnmarshalText(signature) != nil || g.UnmarshalText(good) != nil || !s.Equal(g) {
				t.Errorf("accepted %q", signature)
			}
		}
	})
}
