package release

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"aead.dev/minisign"
)

// SignatureLimit is the largest acceptable signature file, in bytes.
const SignatureLimit = 4 << 10

// What can be wrong with a signature, for errors.Is.
var (
	ErrNoKey     = errors.New("this build has no release key, so it can trust no release")
	ErrSignature = errors.New("the signature is not valid")
)

// ParseKey reads a public key in minisign's text form. A text of comments alone
// is ErrNoKey.
func ParseKey(text string) (minisign.PublicKey, error) {
	var key minisign.PublicKey
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "untrusted comment:") {
			continue
		}
		if err := key.UnmarshalText([]byte(line)); err != nil {
			return key, fmt.Errorf("release key: %w", err)
		}
		return key, nil
	}
	return key, ErrNoKey
}

// comment is what ties a signature to a version.
func comment(version string) string { return Program + " " + version }

// Sign returns the signature file of a list of digests. The same input gives the
// same bytes.
func Sign(key minisign.PrivateKey, version string, sums []byte) ([]byte, error) {
	r, err := hashed(sums)
	if err != nil {
		return nil, err
	}
	return r.SignWithComments(key, comment(version), fmt.Sprintf("%s of %s %s", SumsFile, Program, version)), nil
}

// Verify checks that signature was made with key, over these bytes, and for
// this version. Only minisign's prehashed form is accepted, which is the only
// one that Sign makes.
func Verify(key minisign.PublicKey, version string, sums, signature []byte) error {
	var s minisign.Signature
	if err := s.UnmarshalText(signature); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrSignature, SignatureFile, err)
	}
	if s.Algorithm != minisign.HashEdDSA {
		return fmt.Errorf("%w: %s is not of the prehashed form", ErrSignature, SignatureFile)
	}
	if s.KeyID != key.ID() {
		return fmt.Errorf("%w: made with the key %X, and this program trusts %X", ErrSignature, s.KeyID, key.ID())
	}
	r, err := hashed(sums)
	if err != nil {
		return err
	}
	if !r.Verify(key, signature) {
		return fmt.Errorf("%w: %s or %s was changed", ErrSignature, SumsFile, SignatureFile)
	}
	if s.TrustedComment != comment(version) {
		return fmt.Errorf("%w for %s: it was made for %q, an old release under a new name?", ErrSignature, version, s.TrustedComment)
	}
	return nil
}

func hashed(b []byte) (*minisign.Reader, error) {
	r := minisign.NewReader(bytes.NewReader(b))
	_, err := io.Copy(io.Discard, r)
	return r, err
}
