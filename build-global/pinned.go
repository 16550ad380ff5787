package buildglobal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// lock is the file with the digests that the program embeds.
type lock struct {
	Version string  `json:"version"`
	Tag     string  `json:"tag"`
	Assets  []asset `json:"assets"`
}

type asset struct {
	Platform string `json:"platform"`
	Name     string `json:"name"`
	Size     int64  `json:"size"`
	SHA256   string `json:"sha256"`
}

// CheckPinned holds archives against the lock file: programs take none but those
// it names. What is missing there is in the error, ready to be pasted.
func CheckPinned(lockFile string, archives []string) error {
	if len(archives) == 0 {
		return errors.New("no archives to compare")
	}
	text, err := os.ReadFile(lockFile)
	if err != nil {
		return err
	}
	var l lock
	if err := json.Unmarshal(text, &l); err != nil {
		return fmt.Errorf("%s: %w", lockFile, err)
	}
	if l.Version != Version || l.Tag != "toolchain-"+Version {
		return fmt.Errorf("%s is of version %q and tag %q, this recipe makes %s", lockFile, l.Version, l.Tag, Version)
	}
	var faults []error
	for _, path := range archives {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		name := filepath.Base(path)
		platform := strings.TrimSuffix(strings.TrimPrefix(name, "toolchain-"), ".tar.gz")
		faults = append(faults, l.holds(asset{platform, name, int64(len(content)), hex.EncodeToString(sum[:])}))
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("%s: %w", lockFile, err)
	}
	return nil
}

func (l lock) holds(made asset) error {
	for _, pinned := range l.Assets {
		if pinned == made {
			return nil
		}
	}
	text, err := json.Marshal(made)
	if err != nil {
		return err
	}
	return fmt.Errorf("not pinned: %s", text)
}
