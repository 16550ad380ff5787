package nav

import (
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
)

// Complete lists the defined names that begin with prefix, in byte order, at
// most limit of them. more reports whether there are others.
func (v *View) Complete(prefix string, limit int) (names []string, more bool, err error) {
	if len(prefix) > maxSymbol || strings.ContainsFunc(prefix, func(r rune) bool { return r <= ' ' }) {
		return nil, false, nil // no name begins like this
	}
	names, err = v.set.Names(prefix, gtagsdb.Definitions, limit+1)
	if len(names) > limit {
		return names[:limit], true, err
	}
	return names, false, err
}
