package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"aead.dev/minisign"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/release"
)

// sign writes the digests of a complete release and their signature.
func sign(o options) error {
	text, err := readLimited(o.key)
	if err != nil {
		return fmt.Errorf("-key: %w", err)
	}
	var key minisign.PrivateKey
	if err := key.UnmarshalText(bytes.TrimSpace(text)); err != nil {
		return fmt.Errorf("-key: %w", err)
	}
	public, err := readPublic(o.public)
	if err != nil {
		return err
	}
	if !public.Equal(key.Public()) {
		return fmt.Errorf("the private key is not that of %s, so no program would take this release", o.public)
	}
	sums, err := digests(o)
	if err != nil {
		return err
	}
	signature, err := release.Sign(key, o.tag, sums.Text())
	if err != nil {
		return err
	}
	err = errors.Join(os.WriteFile(o.path(release.SumsFile), sums.Text(), 0o644), os.WriteFile(o.path(release.SignatureFile), signature, 0o644))
	if err != nil {
		return err
	}
	return verify(o)
}

// verify checks a release as those who take it do.
func verify(o options) error {
	public, err := readPublic(o.public)
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(o.path(release.SumsFile))
	if err != nil {
		return err
	}
	signature, err := os.ReadFile(o.path(release.SignatureFile))
	if err != nil {
		return err
	}
	if err := release.Verify(public, o.tag, sums, signature); err != nil {
		return err
	}
	found, err := digests(o)
	if err != nil {
		return err
	}
	if !bytes.Equal(found.Text(), sums) {
		return fmt.Errorf("%s does not fit the files beside it:\n%s", o.path(release.SumsFile), found.Text())
	}
	fmt.Fprintf(o.log, "%s: release %s, signed with %X, %d files\n%s", o.dist, o.tag, public.ID(), len(found), sums)
	return nil
}

func readPublic(path string) (minisign.PublicKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return minisign.PublicKey{}, err
	}
	key, err := release.ParseKey(string(text))
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return key, err
}

// digests of a folder that holds each file of a release, and none besides.
func digests(o options) (release.Sums, error) {
	sums := release.Sums{}
	for _, name := range release.Assets() {
		sum, err := digest(o.path(name))
		if err != nil {
			return nil, fmt.Errorf("the release is not complete: %w", err)
		}
		sums[name] = sum
	}
	entries, err := os.ReadDir(o.dist)
	if err != nil {
		return nil, err
	}
	known := releaseFiles()
	for _, e := range entries {
		if !known[e.Name()] {
			return nil, fmt.Errorf("%s is no file of a release", o.path(e.Name()))
		}
	}
	return sums, nil
}

func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// newKey makes the key pair of all releases to come: the private half for the
// workflow's secret, the public half into the files that embed it.
func newKey(o options) error {
	if o.key == "" || o.key == "-" {
		return errors.New("-key: name the file to write the private key to, outside the repository")
	}
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		return err
	}
	secret, err := private.MarshalText()
	if err != nil {
		return err
	}
	text, err := public.MarshalText()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(o.key, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("-key: %w", err)
	}
	_, err = f.Write(append(secret, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.WriteFile(o.public, append(text, '\n'), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(o.log, "private key: %s\npublic key:  %s\n", o.key, o.public)
	if o.public != committedPublic {
		return nil // a trial key
	}
	if err := writeInstaller(o, installer); err != nil {
		return err
	}
	fmt.Fprintf(o.log, "Commit %s and %s. Store the private key as the secret RELEASE_KEY of the workflow, then keep it offline.\n", o.public, installer)
	return nil
}

// keyLine is where the installer holds the public key.
var keyLine = regexp.MustCompile(`(?m)^RELEASE_KEY='[^']*'$`)

// withKey is the installer's text with another key in its place.
func withKey(script []byte, key string) ([]byte, error) {
	if n := len(keyLine.FindAll(script, -1)); n != 1 {
		return nil, fmt.Errorf("%s has %d lines RELEASE_KEY='…', want 1", installer, n)
	}
	return keyLine.ReplaceAllLiteral(script, []byte("RELEASE_KEY='"+key+"'")), nil
}
