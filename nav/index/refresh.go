package index

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fresh returns a snapshot of v or of a newer generation that shows the tree.
func (x *Index) fresh(ctx context.Context, v *view, deadline time.Time, progress func(Progress)) (*Snapshot, error) {
	return x.snapshot(v), nil
}

// sweep removes what no reader needs: layers that cur does not name and the
// leftovers of builds that died. The lock is held.
func (x *Index) sweep(cur current) {
	entries, err := os.ReadDir(x.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name := e.Name()
		_, isLayer := layerNumber(name)
		if !isLayer && !strings.HasPrefix(name, tmpPrefix) || cur.names(name) {
			continue
		}
		removeUnpinned(filepath.Join(x.dir, name))
	}
}
