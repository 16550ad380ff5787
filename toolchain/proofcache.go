package toolchain

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// proofCache remembers what was proved of which file, so that a server that
// starts with an unchanged toolchain runs nothing. It is a JSON object in
// <home>/cache/proofs.json: key to result. A key is a digest over the identity
// of every file that took part, so an entry is never wrong, only unused; a
// file that cannot be read or parsed is an empty cache.
type proofCache struct {
	path    string
	entries map[string]json.RawMessage
	dirty   bool
}

// maxProofs bounds the file; a full cache starts anew.
const maxProofs = 256

func openProofCache(home string) *proofCache {
	c := &proofCache{path: filepath.Join(home, "cache", "proofs.json")}
	if data, err := os.ReadFile(c.path); err == nil {
		json.Unmarshal(data, &c.entries) //nolint:errcheck // a damaged cache is an empty one
	}
	if c.entries == nil {
		c.entries = make(map[string]json.RawMessage)
	}
	return c
}

func (c *proofCache) get(key string, v any) bool {
	raw, ok := c.entries[key]
	return ok && json.Unmarshal(raw, v) == nil
}

func (c *proofCache) put(key string, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		return
	}
	if len(c.entries) >= maxProofs {
		clear(c.entries)
	}
	c.entries[key], c.dirty = raw, true
}

// save writes the cache when it changed. Of two processes that save at once one
// loses its entries, which costs a later proof and nothing else.
func (c *proofCache) save() error {
	if !c.dirty {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return err
	}
	data, err := json.Marshal(c.entries)
	if err != nil {
		return err
	}
	return writeFile(c.path, data)
}

// loaderCache changes whenever shared libraries are installed or removed, which
// can break a program that did not change itself.
const loaderCache = "/etc/ld.so.cache"

func cacheKey(parts ...string) string {
	parts = append(parts, identity(loaderCache))
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// identity names a file's present content without reading it.
func identity(path string) string {
	if path == "" {
		return ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path + "?"
	}
	info, err := os.Stat(real)
	if err != nil {
		return path + "?"
	}
	return strings.Join([]string{path, real, stamp(info)}, "\x00")
}

func stamp(info fs.FileInfo) string {
	return fmt.Sprintf("%d %d %v", info.Size(), info.ModTime().UnixNano(), info.Mode())
}
