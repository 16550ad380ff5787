package toolchain

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
)

// pins names the archives that this version of the program installs. An archive
// that does not match is never unpacked, whoever serves it.
type pins struct {
	Version    string `json:"version"`    // of the toolchain: GNU Global's, and how often it was built
	Repository string `json:"repository"` // OWNER/NAME on GitHub
	Tag        string `json:"tag"`        // the release that holds the archives
	Assets     []pin  `json:"assets"`
}

// pin is one archive.
type pin struct {
	Platform string `json:"platform"` // OS-ARCH-LIBC, as build-global names it
	Name     string `json:"name"`
	Size     int64  `json:"size"`
	SHA256   string `json:"sha256"`
}

//go:embed lock.json
var lockFile []byte

// readPins returns the embedded lock file, whose numbers are those of SHA256SUMS
// and manifest.json beside the archives that `make artifacts` made.
func (c Config) readPins() (p pins, err error) {
	if c.pins != nil {
		return *c.pins, nil
	}
	if err := json.Unmarshal(lockFile, &p); err != nil {
		return p, fmt.Errorf("embedded lock file: %w", err)
	}
	return p, nil
}

// forPlatform returns the pin of a platform; ok is false when none was built.
func (p pins) forPlatform(platform string) (asset pin, ok bool) {
	for _, a := range p.Assets {
		if a.Platform == platform {
			return a, true
		}
	}
	return pin{}, false
}

// byDigest returns the pin of an archive that is at hand.
func (p pins) byDigest(sha256 string) (asset pin, ok bool) {
	for _, a := range p.Assets {
		if a.SHA256 == sha256 {
			return a, true
		}
	}
	return pin{}, false
}

// generation names what is made from an archive.
func (p pins) generation(a pin) string { return p.Version + "-" + a.SHA256[:16] }

// url is where the release has a file.
func (p pins) url(client *fetch.Client, name string) string {
	owner, repo, _ := strings.Cut(p.Repository, "/")
	return client.AssetURL(fetch.Repo{Owner: owner, Name: repo}, p.Tag, name)
}
